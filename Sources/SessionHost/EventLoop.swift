/// The loop of the thread that a host lives on.
package protocol EventLoop: AnyObject, Sendable {
    /// Runs `work` on the loop's thread, in the order of posting; may be called from any thread.
    func post(_ work: @escaping @Sendable () -> Void)
    /// Runs `work` on the loop's thread after a time; called there.
    func schedule(afterMilliseconds: Int, _ work: @escaping () -> Void)
    /// Runs `work` once, when all that this turn of the loop has brought is handled and before it waits again; called on the thread.
    func atEndOfTurn(_ work: @escaping () -> Void)
}
