/// What a ``Gateway`` is told once, before it runs.
package struct GatewayConfiguration: Sendable {
    /// Where people reach this host from outside; the first is the one that links are made with.
    package var publicURLs: [WebOrigin] = []
    /// Further origins whose pages may connect.
    package var allowedOrigins: Set<WebOrigin> = []
    /// Whose forwarding headers count.
    package var trustedProxies: [AddressRange] = []
    /// Names and numeric addresses by which this host may be called, besides `localhost` and the public ones; without brackets.
    package var hostNames: Set<String> = []
    /// The addresses of this machine now, asked when a name is not known and the host listens on all of them.
    package var ownAddresses: @Sendable () -> [String] = { [] }
    /// The origin that links are made with when a request came over loopback, which means nothing to anybody else.
    package var advertisedOrigin: WebOrigin
    /// The folder with `index.html`, `group.html`, `sdk/` and the rest of the pages.
    package var webFolder: String
    /// Files served at `/media/`; nil for none.
    package var mediaFolder: String?
    package var operatorToken: String
    /// Anybody may open groups with `POST /v1/groups`.
    package var isOpenToAll = false

    package init(advertisedOrigin: WebOrigin, webFolder: String, operatorToken: String) {
        self.advertisedOrigin = advertisedOrigin
        self.webFolder = webFolder
        self.operatorToken = operatorToken
    }
}
