import Glibc
import Testing

@testable import Gateway
@testable import WebSockets

@Suite("Admission")
struct AdmissionTests {
    private static let token = "operator-token-of-the-test"

    private static func configuration(_ change: (inout GatewayConfiguration) -> Void = { _ in }) -> GatewayConfiguration {
        var configuration = GatewayConfiguration(
            advertisedOrigin: WebOrigin("http://192.168.1.5:4750")!, webFolder: "Web", operatorToken: token)
        configuration.hostNames = ["127.0.0.1"]
        change(&configuration)
        return configuration
    }

    private static func request(_ headers: [(String, String)], from address: String = "127.0.0.1") -> HTTPRequest {
        var fields = HTTPHeaders()
        if !headers.contains(where: { $0.0 == "host" }) { fields.append(name: "host", value: "127.0.0.1:4750") }
        for (name, value) in headers { fields.append(name: name, value: value) }
        var storage = sockaddr_storage()
        withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                $0.pointee.sin_family = sa_family_t(AF_INET)
                inet_pton(AF_INET, address, &$0.pointee.sin_addr)
            }
        }
        return HTTPRequest(
            method: "POST", rawPath: "/v1/groups", path: "/v1/groups", query: nil, headers: fields, remoteAddress: RemoteAddress(&storage))
    }

    private static func caller(
        _ headers: [(String, String)], from address: String = "127.0.0.1", _ change: (inout GatewayConfiguration) -> Void = { _ in }
    ) throws -> Caller {
        try Admission(configuration(change)).admit(request(headers, from: address)).get()
    }

    // MARK: Host

    @Test(
        "The host answers to the names it was given",
        arguments: ["127.0.0.1:4750", "localhost", "LOCALHOST:1", "[::1]:4750", "party.test", "party.test:81"])
    func knowsItsNames(name: String) throws {
        let caller = try Self.caller([("host", name)]) { $0.publicURLs = [WebOrigin("http://party.test")!] }
        #expect(caller.host == HostName(name))
    }

    @Test(
        "To other names it does not answer: a foreign page's server may point its own name here",
        arguments: ["evil.example", "127.0.0.1.evil.example", "party.test.evil.example", "10.0.0.9", "[fd00::1]", "", "localhost, evil.example"])
    func refusesOtherNames(name: String) {
        #expect(throws: Refusal.self) { try Self.caller([("host", name)]) { $0.publicURLs = [WebOrigin("http://party.test")!] } }
    }

    @Test("A machine's addresses of now are names of a host that listens on all of them")
    func knowsNewAddresses() throws {
        let change: (inout GatewayConfiguration) -> Void = { $0.ownAddresses = { ["192.168.1.77"] } }
        #expect(try Self.caller([("host", "192.168.1.77:4750")], change).host.name == "192.168.1.77")
        #expect(throws: Refusal.self) { try Self.caller([("host", "192.168.1.78")], change) }
    }

    // MARK: Origin

    @Test(
        "Pages of the host itself and of origins that the operator named may connect",
        arguments: [
            ("http://127.0.0.1:4750", true), ("https://party.test", true), ("https://friend.example", true), ("http://127.0.0.1", false),
            ("https://127.0.0.1:4750", false), ("http://party.test", false), ("https://evil.example", false), ("null", false), ("", false),
            ("http://127.0.0.1.evil.example", false), ("http://10.0.0.9", false), ("http://localhost:4750", false),
        ])
    func checksOrigins(origin: String, isAllowed: Bool) throws {
        let configuration = Self.configuration {
            $0.publicURLs = [WebOrigin("https://party.test")!]
            $0.allowedOrigins = [WebOrigin("https://friend.example")!]
        }
        let admission = Admission(configuration)
        let request = Self.request([("origin", origin)])
        #expect(admission.allowsOrigin(of: request, caller: try admission.admit(request).get()) == isAllowed)
    }

    @Test("No Origin means no browser; two are one too many", arguments: [(0, true), (1, true), (2, false)])
    func countsOrigins(count: Int, isAllowed: Bool) throws {
        let admission = Admission(Self.configuration())
        let request = Self.request(Array(repeating: ("origin", "http://127.0.0.1:4750"), count: count))
        #expect(admission.allowsOrigin(of: request, caller: try admission.admit(request).get()) == isAllowed)
    }

    // MARK: Operator

    @Test(
        "Loopback is the operator's as long as nothing stands in between",
        arguments: [
            ("127.0.0.1", [], true), ("127.9.9.9", [], true), ("192.168.1.9", [], false), ("127.0.0.1", [("x-forwarded-for", "1.2.3.4")], false),
            ("127.0.0.1", [("forwarded", "for=1.2.3.4")], false), ("127.0.0.1", [("x-real-ip", "127.0.0.1")], false),
            ("127.0.0.1", [("authorization", "Bearer wrong")], false), ("127.0.0.1", [("authorization", "Bearer \(token)")], true),
            ("192.168.1.9", [("authorization", "bearer \(token)")], true), ("192.168.1.9", [("authorization", "Basic \(token)")], false),
            ("192.168.1.9", [("authorization", "Bearer")], false), ("192.168.1.9", [("authorization", "Bearer \(token)x")], false),
            ("192.168.1.9", [("authorization", "Bearer \(token)"), ("authorization", "Bearer \(token)")], false),
        ] as [(String, [(String, String)], Bool)])
    func knowsOperators(address: String, headers: [(String, String)], isOperator: Bool) throws {
        #expect(try Self.caller(headers, from: address).isOperator == isOperator)
    }

    @Test("With a public URL only the token makes an operator", arguments: [([], false), ([("authorization", "Bearer \(token)")], true)])
    func publicHostsTrustTokensOnly(headers: [(String, String)], isOperator: Bool) throws {
        let caller = try Self.caller(headers) { $0.publicURLs = [WebOrigin("https://party.test")!] }
        #expect(caller.isOperator == isOperator)
    }

    @Test("An empty token is nobody's")
    func emptyTokenIsNobodys() throws {
        #expect(try !Self.caller([("authorization", "Bearer ")], from: "192.168.1.9") { $0.operatorToken = "" }.isOperator)
    }

    // MARK: Proxies

    @Test(
        "A client's address is the last one that no trusted proxy has",
        arguments: [
            ([("x-forwarded-for", "1.1.1.1, 2.2.2.2")], "10.0.0.7", "2.2.2.2"), ([("x-forwarded-for", "1.1.1.1, 10.0.0.9")], "10.0.0.7", "1.1.1.1"),
            ([("x-forwarded-for", "1.1.1.1"), ("x-forwarded-for", "3.3.3.3")], "10.0.0.7", "3.3.3.3"), ([], "10.0.0.7", "10.0.0.7"),
            ([("x-forwarded-for", "1.1.1.1, nonsense")], "10.0.0.7", "10.0.0.7"), ([("x-forwarded-for", "1.1.1.1")], "172.16.0.1", "172.16.0.1"),
            ([("forwarded", "for=\"[fd00::5]:80\";proto=https")], "10.0.0.7", "fd00::5"),
            ([("forwarded", "for=1.1.1.1, for=2.2.2.2:99")], "10.0.0.7", "2.2.2.2"),
        ] as [([(String, String)], String, String)])
    func readsForwardedAddresses(headers: [(String, String)], peer: String, expected: String) throws {
        let caller = try Self.caller(headers, from: peer) { $0.trustedProxies = [AddressRange("10.0.0.0/8")!] }
        #expect(caller.address == expected)
    }

    @Test("Only a trusted proxy says that the client came over TLS", arguments: [("10.0.0.7", "https"), ("172.16.0.1", "http")])
    func believesTrustedProxies(peer: String, scheme: String) throws {
        let caller = try Self.caller([("x-forwarded-proto", "https")], from: peer) { $0.trustedProxies = [AddressRange("10.0.0.0/8")!] }
        #expect(caller.origin.text == "\(scheme)://127.0.0.1:4750")
    }
}
