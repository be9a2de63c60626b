import Testing

@testable import Gateway

@Suite("Names and origins")
struct OriginTests {
    @Test(
        "A Host header is a name, or a number, with or without a port",
        arguments: [
            ("localhost", "localhost", nil), ("LOCALHOST:4750", "localhost", 4750), ("party.test.", "party.test", nil),
            ("192.168.1.5:80", "192.168.1.5", 80), ("[::1]", "::1", nil), ("[FD00::2]:4750", "fd00::2", 4750),
        ] as [(String, String, UInt16?)])
    func readsHostNames(text: String, name: String, port: UInt16?) {
        let host = HostName(text)
        #expect(host?.name == name)
        #expect(host?.port == port)
    }

    @Test(
        "What is no Host is refused",
        arguments: [
            "", ":", ":80", "a:", "a:0", "a:65536", "a:+1", "a:1:2", "a b", "a/b", "a@b", "a\u{0}b", "[::1", "::1", "[]", "[::1]x", "[zz]",
            "ä.example", "a,b", "a;b",
        ])
    func refusesHostNames(text: String) {
        #expect(HostName(text) == nil)
    }

    @Test(
        "Only this machine's own names are loopback",
        arguments: [
            ("localhost", true), ("127.0.0.1", true), ("127.8.9.1:4750", true), ("[::1]", true), ("127.0.0.1.evil.example", false),
            ("127.evil.example", false), ("localhost.evil.example", false), ("10.0.0.9", false), ("[::2]", false),
        ])
    func knowsLoopback(text: String, isLoopback: Bool) {
        #expect(HostName(text)?.isLoopback == isLoopback)
    }

    @Test(
        "Origins are equal when scheme, name and port are",
        arguments: [
            ("http://party.test", "http://party.test:80", true), ("https://party.test:443", "https://Party.Test", true),
            ("http://party.test/", "http://party.test", true), ("http://party.test", "https://party.test", false),
            ("http://party.test", "http://party.test:81", false), ("http://party.test", "http://party.test.evil.example", false),
        ])
    func comparesOrigins(a: String, b: String, areEqual: Bool) throws {
        #expect((try #require(WebOrigin(a)) == (try #require(WebOrigin(b)))) == areEqual)
    }

    @Test(
        "What is no origin is refused",
        arguments: ["null", "", "party.test", "ws://party.test", "http://", "http://a/b", "http://a b", "file:///x", "http://a@b"])
    func refusesOrigins(text: String) {
        #expect(WebOrigin(text) == nil)
    }

    @Test(
        "An address range holds those that begin with its bits",
        arguments: [
            ("10.0.0.7", "10.0.0.7", true), ("10.0.0.7", "10.0.0.8", false), ("10.0.0.0/8", "10.200.1.1", true), ("10.0.0.0/8", "11.0.0.1", false),
            ("10.0.0.0/9", "10.128.0.1", false), ("0.0.0.0/0", "8.8.8.8", true), ("fd00::/8", "fd12::1", true), ("fd00::/8", "fe80::1", false),
            ("10.0.0.0/8", "::ffff:10.1.1.1", true), ("10.0.0.0/8", "fd00::1", false), ("10.0.0.0/8", "nonsense", false),
        ])
    func matchesRanges(range: String, address: String, isInside: Bool) throws {
        #expect(try #require(AddressRange(range)).contains(address) == isInside)
    }

    @Test("What is no range is refused", arguments: ["", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "/8", "10.0.0", "proxy.example", "fd00::/129"])
    func refusesRanges(text: String) {
        #expect(AddressRange(text) == nil)
    }
}
