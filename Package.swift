// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "activityhost",
    products: [
        .executable(name: "activityhost", targets: ["activityhost"])
    ],
    targets: [
        .systemLibrary(name: "CLua", pkgConfig: "lua5.4", providers: [.apt(["liblua5.4-dev"])]),
        .systemLibrary(name: "CLibWebSockets", pkgConfig: "libwebsockets", providers: [.apt(["libwebsockets-dev"])]),
        .systemLibrary(name: "CQREncode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"])]),
        .target(name: "CLuaBridge", dependencies: ["CLua"], linkerSettings: [.linkedLibrary("double-conversion")]),

        .target(name: "ActivityModel"),
        .target(name: "SessionCore", dependencies: ["ActivityModel"]),
        .target(name: "LuaRuntime", dependencies: ["SessionCore", "ActivityModel", "CLuaBridge"]),
        .target(name: "SessionHost", dependencies: ["SessionCore", "ActivityModel"]),
        .target(name: "WebSockets", dependencies: ["CLibWebSockets"]),
        .target(name: "Gateway", dependencies: ["SessionHost", "SessionCore", "ActivityModel", "WebSockets", "CQREncode"]),
        .executableTarget(
            name: "activityhost",
            dependencies: ["ActivityModel", "SessionCore", "LuaRuntime", "SessionHost", "WebSockets", "Gateway"]),
        .target(name: "ActivityTestKit", dependencies: ["SessionHost", "SessionCore", "ActivityModel"]),
        .executableTarget(name: "loadgen", path: "Benchmarks/loadgen"),

        .testTarget(name: "CLuaBridgeTests", dependencies: ["CLuaBridge"]),
        .testTarget(name: "ActivityModelTests", dependencies: ["ActivityModel"]),
        .testTarget(name: "SessionCoreTests", dependencies: ["SessionHost", "SessionCore", "ActivityModel", "ActivityTestKit"]),
        .testTarget(name: "LuaRuntimeTests", dependencies: ["LuaRuntime", "SessionCore", "ActivityModel"]),
        .testTarget(name: "WebSocketsTests", dependencies: ["WebSockets"]),
        .testTarget(name: "GatewayTests", dependencies: ["Gateway", "WebSockets"]),
        .testTarget(name: "activityhostTests", dependencies: ["activityhost", "ActivityModel", "WebSockets"]),
    ],
    cLanguageStandard: .c17,
    cxxLanguageStandard: .cxx17
)

for target in package.targets {
    switch target.type {
    case .regular, .executable, .test:
        target.swiftSettings = [
            .swiftLanguageMode(.v6),
            .treatAllWarnings(as: .error),
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
        ]
        target.cSettings = [.unsafeFlags(["-Wall", "-Wextra", "-Werror"])]
        target.cxxSettings = [.unsafeFlags(["-Wall", "-Wextra", "-Werror"])]
    default:
        break
    }
}
