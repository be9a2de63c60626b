import Testing

@testable import Gateway

@Suite("Byte ranges")
struct ByteRangeTests {
    @Test(
        "A range header names a part of a file of 100 bytes",
        arguments: [
            (nil, .whole), ("bytes=0-0", .part(0..<1)), ("bytes=10-19", .part(10..<20)), ("bytes=90-", .part(90..<100)),
            ("bytes=-10", .part(90..<100)),
            ("bytes=-200", .part(0..<100)), ("bytes=90-200", .part(90..<100)), ("Bytes = 1-2", .whole), ("BYTES=1-2", .part(1..<3)),
            ("bytes= 1-2 ", .part(1..<3)), ("bytes=100-", .unsatisfiable), ("bytes=100-200", .unsatisfiable), ("bytes=-0", .unsatisfiable),
            ("bytes=99999999999999999999-", .unsatisfiable), ("bytes=0-99999999999999999999", .part(0..<100)),
            ("bytes=2-1", .whole), ("bytes=-", .whole), ("bytes=", .whole), ("bytes", .whole), ("bytes=a-b", .whole), ("bytes=+1-2", .whole),
            ("bytes=1-2,4-5", .whole), ("lines=1-2", .whole), ("bytes=1--2", .whole),
        ] as [(String?, ByteRange)])
    func readsRanges(header: String?, expected: ByteRange) {
        #expect(ByteRange(header: header, size: 100) == expected)
    }

    @Test("An empty file has no part", arguments: ["bytes=0-", "bytes=0-0", "bytes=-1"])
    func emptyFileHasNoPart(header: String) {
        #expect(ByteRange(header: header, size: 0) == .unsatisfiable)
    }
}
