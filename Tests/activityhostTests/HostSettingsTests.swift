import ActivityModel
import Testing
import WebSockets

@testable import activityhost

@Suite("Settings")
struct HostSettingsTests {
    private func settings(_ words: [String]) throws -> HostSettings {
        try HostSettings(try Arguments(words, options: Option.hosting, environment: [:]))
    }

    @Test(
        "Addresses are numbers with a port",
        arguments: [
            ("127.0.0.1:0", "127.0.0.1", 0), ("[::1]:4750", "::1", 4750), ("localhost:80", "127.0.0.1", 80), ("0.0.0.0:65535", "0.0.0.0", 65535),
        ] as [(String, String, UInt16)])
    func readsAddresses(text: String, host: String, port: UInt16) throws {
        let listen = try settings(["--listen", text]).listen
        #expect(listen.host == host && listen.port == port)
    }

    @Test(
        "Who can join follows from where the host listens",
        arguments: [
            ([], false, false), (["--listen", "127.1.1.1:1"], false, false), (["--lan"], true, true), (["--listen", "192.168.1.5:1"], true, false),
            (["--listen", "[::]:1"], true, true), (["--public-url", "https://party.test"], true, false),
        ] as [([String], Bool, Bool)])
    func knowsReach(words: [String], isReachable: Bool, isWildcard: Bool) throws {
        let settings = try settings(words)
        #expect(settings.isReachable == isReachable && settings.isWildcard == isWildcard)
    }

    @Test("Limits have names and bounds")
    func setsLimits() throws {
        let limits = try settings(["--limit", "participants=500", "--limit", "grace_ms=0"]).limits
        #expect(limits[.participants] == 500 && limits[.graceMs] == 0 && limits[.sessions] == 16)
    }

    @Test(
        "Settings that cannot be are wrong usage",
        arguments: [
            ["--listen", "nowhere"], ["--listen", "127.0.0.1"], ["--listen", "127.0.0.1:99999"], ["--listen", "party.test:1"],
            ["--limit", "no_such=1"],
            ["--limit", "participants"], ["--limit", "participants=many"], ["--limit", "participants=-1"], ["--limit", "participants=10001"],
            ["--limit", ""], ["--limit", "=1"], ["--public-url", "party.test"], ["--public-url", "https://party.test/path"], ["--allow-origin", "*"],
            ["--trust-proxy", "proxy"], ["--gather", "-1"], ["--gather", "x"], ["--workers", "0"],
            ["--media", "/no/such/folder"],
        ])
    func refuses(words: [String]) {
        #expect(throws: UsageError.self) { try settings(words) }
    }
}

@Suite("Terminal")
struct TerminalTests {
    @Test(
        "What a terminal would obey is made visible",
        arguments: [
            ("a\u{1B}[31mb", "a␛[31mb"), ("a\rb", "a␍b"), ("\u{9B}31m", "\u{FFFD}31m"), ("a\u{202E}b", "a\u{FFFD}b"), ("a\tb\nc", "a\tb\nc"),
            ("ä漢🎲", "ä漢🎲"),
        ])
    func showsControls(text: String, expected: String) {
        #expect(Terminal.plain(text) == expected)
    }

    @Test(
        "A typing mistake finds what was meant, and nonsense finds nothing",
        arguments: [("strat", "start"), ("lst", "list"), ("serv", "serve"), ("doctro", "doctor"), ("xyzzy", nil), ("", nil)] as [(String, String?)])
    func suggests(word: String, expected: String?) {
        #expect(Suggestion.nearest(to: word, among: ["start", "serve", "list", "doctor", "help"]) == expected)
    }
}
