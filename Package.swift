// swift-tools-version: 6.2
import PackageDescription

/// The settings of `CloudKit`: strict concurrency (Swift 6 mode), explicit imports, no warnings.
///
/// Apple's modules are built without `NonisolatedNonsendingByDefault`. With it the requirements and closures of this one
/// would not take what Apple's take, as a delegate on the main actor.
let sdkSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    // Readers of encoded bytes are loans (`WireReader`); swift-nio enables it for its spans, too.
    .enableExperimentalFeature("Lifetimes"),
    .treatAllWarnings(as: .error),
]

/// The settings of every other target of ours.
let settings = sdkSettings + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]

/// The settings of code in the shape of our users' code: what Xcode gives a new package, nothing stricter.
let userSettings: [SwiftSetting] = [.treatAllWarnings(as: .error)]

func nio(_ name: String) -> Target.Dependency { .product(name: name, package: "swift-nio") }
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

/// A product that only the server, the programs, CloudKitTesting and tests use: without the trait SwiftPM does not even fetch its package.
func serverOnly(_ name: String, package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: ["Server"]))
}
/// A product that clients with a mirror use, too.
func mirrored(_ name: String, package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: ["Server", "Mirror"]))
}
let grdb = serverOnly("GRDB", package: "GRDB.swift")
let mirrorGRDB = mirrored("GRDB", package: "GRDB.swift")
let grdbSQLite = serverOnly("GRDBSQLite", package: "GRDB.swift")
let lifecycle = serverOnly("ServiceLifecycle", package: "swift-service-lifecycle")
let unixSignals = serverOnly("UnixSignals", package: "swift-service-lifecycle")
let configuration = serverOnly("Configuration", package: "swift-configuration")
let argumentParser = serverOnly("ArgumentParser", package: "swift-argument-parser")
let crypto = serverOnly("Crypto", package: "swift-crypto")
let x509 = serverOnly("X509", package: "swift-certificates")
let jwt = serverOnly("JWTKit", package: "jwt-kit")
let histogram = serverOnly("Histogram", package: "hdrhistogram-swift")
let protobuf = serverOnly("SwiftProtobuf", package: "swift-protobuf")
let asn1 = serverOnly("SwiftASN1", package: "swift-asn1")
let hummingbird = serverOnly("Hummingbird", package: "hummingbird")
let hummingbirdCore = serverOnly("HummingbirdCore", package: "hummingbird")
let httpTypes = serverOnly("HTTPTypes", package: "swift-http-types")

let protocolTargets: [Target] = [
    .target(name: "RecordModel", path: "Protocol/RecordModel", swiftSettings: settings),
    .target(
        name: "WireProtocol",
        dependencies: ["RecordModel", nio("NIOCore")],
        path: "Protocol/WireProtocol",
        swiftSettings: settings
    ),
    .target(
        name: "Transport",
        dependencies: ["WireProtocol", "FileIO", nio("NIOCore")],
        path: "Protocol/Transport",
        exclude: ["README.md"],
        swiftSettings: settings
    ),
]

let serverTargets: [Target] = [
    .systemLibrary(
        name: "CLibCrypto",
        path: "Sources/CLibCrypto",
        providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]
    ),
    .target(
        name: "SystemCrypto",
        dependencies: ["CLibCrypto"],
        path: "Sources/SystemCrypto",
        exclude: ["README.md"],
        swiftSettings: settings
    ),
    .target(
        name: "FileIO",
        dependencies: ["SystemCrypto", nio("NIOCore"), nio("NIOPosix")],
        path: "Sources/FileIO",
        exclude: ["README.md"],
        swiftSettings: settings
    ),
    .target(
        name: "StorageContract",
        dependencies: ["RecordModel"],
        path: "Sources/StorageContract",
        exclude: ["README.md"],
        swiftSettings: settings
    ),
    .target(
        name: "RecordStore",
        dependencies: ["StorageContract", "RecordModel"],
        path: "Sources/RecordStore",
        exclude: [
            "README.md", "PLANS.md", "QUERIES.md", "FEEDS.md", "SHARING.md", "HOUSEKEEPING.md",
            "HISTORIES.md",
        ],
        swiftSettings: settings
    ),
    .target(
        name: "Admission",
        dependencies: ["RecordModel"],
        path: "Sources/Admission",
        exclude: ["README.md"],
        swiftSettings: settings
    ),
    .target(
        name: "EngineThreads",
        dependencies: ["Admission", "StorageContract"],
        path: "Sources/EngineThreads",
        exclude: ["README.md"],
        swiftSettings: settings
    ),
    .target(name: "SQLiteSetup", dependencies: [grdbSQLite], path: "Sources/SQLiteSetup"),
    .target(
        name: "SQLiteEngine",
        dependencies: [
            "Admission", "EngineThreads", "StorageContract", "RecordModel", "SQLiteSetup", grdb, grdbSQLite,
        ],
        path: "Sources/SQLiteEngine",
        exclude: ["README.md", "TABLES.md"],
        swiftSettings: settings
    ),
    .systemLibrary(
        name: "CLibPQ",
        path: "Sources/CLibPQ",
        providers: [.apt(["libpq-dev"]), .brew(["libpq"])]
    ),
    .systemLibrary(name: "CMalloc", path: "Sources/CMalloc"),
    .target(
        name: "PostgreSQLEngine",
        dependencies: ["Admission", "EngineThreads", "StorageContract", "RecordModel", "CLibPQ"],
        path: "Sources/PostgreSQLEngine",
        exclude: ["README.md"],
        swiftSettings: settings
    ),
    .target(
        name: "AssetStorage",
        dependencies: ["StorageContract", "RecordModel", nio("NIOCore")],
        path: "Sources/AssetStorage",
        exclude: ["README.md"],
        swiftSettings: settings
    ),
    .target(
        name: "AssetStore",
        dependencies: [
            "AssetStorage", "StorageContract", "RecordModel", "FileIO", "SystemCrypto", nio("NIOCore"),
        ],
        path: "Sources/AssetStore",
        exclude: ["README.md"],
        swiftSettings: settings
    ),
    .target(
        name: "AccessTokens",
        dependencies: [jwt],
        path: "Sources/AccessTokens",
        exclude: ["README.md"],
        swiftSettings: settings
    ),
    .target(
        name: "RecordServer",
        dependencies: [
            "AccessTokens", "Admission", "AssetStorage", "EngineThreads", "FileIO", "RecordStore",
            "StorageContract", "SystemCrypto",
            "Transport", "WireProtocol", "RecordModel",
            nio("NIOCore"), nio("NIOPosix"), nio("NIOTLS"), nioSSL, logging,
        ],
        path: "Sources/RecordServer",
        exclude: ["README.md", "PUSH.md", "OVERLOAD.md"],
        swiftSettings: settings
    ),
    .target(
        name: "RecordJSON",
        dependencies: ["RecordModel"],
        path: "Sources/RecordJSON",
        exclude: ["README.md"],
        swiftSettings: settings
    ),
    .target(
        name: "ZoneBundles",
        dependencies: ["FileIO", "SystemCrypto", "WireProtocol", "RecordModel", nio("NIOCore")],
        path: "Sources/ZoneBundles",
        exclude: ["README.md"],
        swiftSettings: settings
    ),
    .target(
        name: "ServerCertificates",
        dependencies: [x509, asn1, crypto],
        path: "Sources/ServerCertificates",
        exclude: ["README.md"],
        swiftSettings: settings
    ),
    .target(
        name: "MonitoringEndpoint",
        dependencies: ["FileIO", nio("NIOCore"), nio("NIOPosix"), nio("NIOHTTP1"), logging],
        path: "Sources/MonitoringEndpoint",
        exclude: ["README.md"],
        swiftSettings: settings
    ),
    .target(
        name: "Console",
        dependencies: [
            "RecordStore", "StorageContract", "SystemCrypto", "RecordModel", "PredicateFormat", "RecordJSON",
            hummingbird,
            hummingbirdCore,
            httpTypes,
            nio("NIOCore"),
            nio("NIOPosix"), lifecycle, unixSignals, logging,
        ],
        path: "Sources/Console",
        exclude: ["README.md"],
        // In the program itself, which stays one file.
        resources: [
            .embedInCode("Files/console.css"), .embedInCode("Files/console.js"),
            .embedInCode("Files/console.svg"), .embedInCode("Files/operation.css"),
            .embedInCode("Files/plots.js"), .embedInCode("Files/follow.js"),
        ],
        swiftSettings: settings
    ),
    .target(
        name: "WebServices",
        dependencies: [
            "RecordServer", "StorageContract", "SystemCrypto", "WireProtocol", "RecordModel", "RecordJSON",
            nio("NIOCore"), nio("NIOHTTP1"),
        ],
        path: "Sources/WebServices",
        exclude: ["README.md"],
        swiftSettings: settings
    ),
    .target(
        name: "Administration",
        dependencies: [
            "RecordServer", "AssetStorage", "AssetStore", "FileIO", "RecordStore", "StorageContract",
            "SystemCrypto", "RecordModel",
            "RecordJSON", "ZoneBundles",
        ],
        path: "Sources/Administration",
        exclude: ["README.md"],
        swiftSettings: settings
    ),
    .executableTarget(
        name: "tidemark",
        dependencies: [
            "Administration", "Admission", "Console", "RecordClient", "WireProtocol",
            "RecordServer", "AccessTokens", "AssetStorage", "AssetStore", "FileIO", "MonitoringEndpoint",
            "SQLiteEngine", "PostgreSQLEngine", "RecordStore", "StorageContract", "RecordModel", "RecordJSON",
            "WebServices", "PredicateFormat", "ServerCertificates", "SystemCrypto", "ZoneBundles", "CMalloc",
            argumentParser,
            lifecycle, unixSignals, configuration, logging,
        ],
        path: "Sources/tidemark",
        exclude: [
            "README.md", "METRICS.md", "STORE.md", "Backup/README.md", "Guides", "Monitoring/alerts.yml",
            "Monitoring/dashboard.json",
        ],
        swiftSettings: settings
    ),
]

let clientTargets: [Target] = [
    .target(
        name: "RecordClient",
        dependencies: [
            "Transport", "WireProtocol", "FileIO", "SystemCrypto", "RecordModel", nio("NIOCore"),
            nio("NIOPosix"), nio("NIOTLS"), nioSSL, logging,
        ],
        path: "Clients/RecordClient",
        swiftSettings: settings
    ),
    .target(
        name: "PredicateFormat",
        dependencies: ["RecordModel"],
        path: "Clients/PredicateFormat",
        swiftSettings: settings
    ),
    .target(name: "CoreLocation", path: "Clients/CoreLocation", swiftSettings: settings),
    .target(name: "CloudKitRuntime", path: "Clients/CloudKitRuntime"),
    .target(
        name: "CloudKit",
        dependencies: [
            "RecordClient", "WireProtocol", "FileIO", "SystemCrypto", "PredicateFormat", "RecordModel",
            "CoreLocation", "CloudKitRuntime",
        ],
        path: "Clients/CloudKit",
        exclude: ["README.md"],
        swiftSettings: sdkSettings
    ),
    .target(
        name: "CloudKitTesting",
        dependencies: [
            "CloudKit", "RecordClient", "RecordServer", "AssetStore", "SQLiteEngine", "RecordStore",
            "StorageContract",
            "WireProtocol", "RecordModel", "ServerCertificates", logging,
        ],
        path: "Clients/CloudKitTesting",
        exclude: ["README.md"],
        swiftSettings: settings
    ),
    .target(
        name: "CloudKitMirror",
        dependencies: ["CloudKit", "RecordModel", mirrorGRDB],
        path: "Clients/CloudKitMirror",
        exclude: ["README.md"],
        swiftSettings: settings
    ),
    .executableTarget(
        name: "tidemark-mirror",
        dependencies: ["CloudKit", "CloudKitMirror", "RecordModel", argumentParser, unixSignals],
        path: "Clients/MirrorCommand",
        swiftSettings: settings
    ),
    .executableTarget(
        name: "tidemark-listen",
        dependencies: ["CloudKit", "RecordModel", argumentParser, unixSignals],
        path: "Clients/Listener",
        swiftSettings: settings
    ),
    .executableTarget(
        name: "tidemark-load",
        dependencies: [
            "CloudKit", "RecordClient", "WireProtocol", "FileIO", "SystemCrypto", "RecordModel",
            argumentParser, histogram,
        ],
        path: "Clients/LoadTest",
        exclude: ["README.md"],
        swiftSettings: settings
    ),
    .executableTarget(
        name: "iso-codes-service",
        dependencies: ["CloudKit"],
        path: "Clients/Examples/ISOCodes",
        swiftSettings: userSettings
    ),
    .executableTarget(
        name: "Notes",
        dependencies: ["CloudKit"],
        path: "Clients/Examples/Notes",
        swiftSettings: userSettings
    ),
    .executableTarget(
        name: "shared-list",
        dependencies: ["CloudKit"],
        path: "Clients/Examples/SharedList",
        swiftSettings: userSettings
    ),
]

let testTargets: [Target] = [
    .target(
        name: "FuzzInput",
        dependencies: ["WireProtocol", "RecordModel", nio("NIOCore")],
        path: "Tests/Fuzz/FuzzInput",
        swiftSettings: settings
    ),
    .target(
        name: "TestSupport",
        dependencies: ["RecordModel"],
        path: "Tests/TestSupport",
        swiftSettings: settings
    ),
    .testTarget(
        name: "RecordModelTests",
        dependencies: ["RecordModel", "TestSupport"],
        path: "Tests/RecordModelTests",
        swiftSettings: settings
    ),
    .testTarget(
        name: "PredicateFormatTests",
        dependencies: ["PredicateFormat", "RecordModel", "TestSupport"],
        path: "Tests/PredicateFormatTests",
        swiftSettings: settings
    ),
    .testTarget(
        name: "RecordJSONTests",
        dependencies: ["RecordJSON", "RecordModel", "TestSupport"],
        path: "Tests/RecordJSONTests",
        swiftSettings: settings
    ),
    .testTarget(
        name: "ZoneBundlesTests",
        dependencies: ["ZoneBundles", "RecordModel", "TestSupport", crypto],
        path: "Tests/ZoneBundlesTests",
        swiftSettings: settings
    ),
    .testTarget(
        name: "WireProtocolTests",
        dependencies: [
            "WireProtocol", "RecordModel", "FuzzInput", "TestSupport", nio("NIOCore"), nio("NIOEmbedded"),
            nio("NIOTestUtils"), protobuf,
        ],
        path: "Tests/WireProtocolTests",
        swiftSettings: settings
    ),
    .testTarget(
        name: "TransportTests",
        dependencies: ["Transport", "WireProtocol", "FileIO", "RecordModel", "TestSupport", nio("NIOCore")],
        path: "Tests/TransportTests",
        swiftSettings: settings
    ),
    .target(
        name: "MemoryEngine",
        dependencies: ["Admission", "EngineThreads", "StorageContract", "RecordModel"],
        path: "Tests/MemoryEngine",
        swiftSettings: settings
    ),
    .testTarget(
        name: "AdmissionTests",
        dependencies: ["Admission", "RecordModel", "TestSupport"],
        path: "Tests/AdmissionTests",
        swiftSettings: settings
    ),
    .testTarget(
        name: "RecordStoreTests",
        dependencies: ["MemoryEngine", "RecordStore", "StorageContract", "RecordModel", "TestSupport"],
        path: "Tests/RecordStoreTests",
        swiftSettings: settings
    ),
    // Stores on each engine, models of them and checks, for the tests of all engines and of each.
    .target(
        name: "EngineConformance",
        dependencies: [
            "Admission", "RecordServer", "SQLiteEngine", "PostgreSQLEngine", "PostgreSQLCluster",
            "MemoryEngine",
            "RecordStore", "StorageContract", "WireProtocol", "RecordModel", "TestSupport", nio("NIOCore"),
        ],
        path: "Tests/EngineConformance",
        swiftSettings: settings
    ),
    .testTarget(
        name: "EngineConformanceTests",
        dependencies: [
            "EngineConformance", "RecordStore", "StorageContract", "RecordModel", "TestSupport",
        ],
        path: "Tests/EngineConformanceTests",
        swiftSettings: settings
    ),
    .target(
        name: "PostgreSQLCluster",
        dependencies: ["PostgreSQLEngine", "TestSupport"],
        path: "Tests/PostgreSQLCluster",
        swiftSettings: settings
    ),
    .testTarget(
        name: "PostgreSQLEngineTests",
        dependencies: [
            "Administration", "EngineConformance", "EngineThreads", "PostgreSQLEngine",
            "PostgreSQLCluster",
            "SQLiteEngine", "RecordStore", "StorageContract",
            "RecordModel", "TestSupport",
        ],
        path: "Tests/PostgreSQLEngineTests",
        swiftSettings: settings
    ),
    .testTarget(
        name: "SQLiteEngineTests",
        dependencies: [
            "Admission", "EngineConformance", "EngineThreads", "SQLiteEngine", "SQLiteSetup",
            "RecordStore", "StorageContract", "RecordModel", "TestSupport", grdbSQLite,
        ],
        path: "Tests/SQLiteEngineTests",
        swiftSettings: settings
    ),
    .testTarget(
        name: "AdministrationTests",
        dependencies: [
            "Administration", "MemoryEngine", "RecordServer", "RecordStore", "StorageContract", "RecordModel",
            "FileIO",
            "TestSupport",
        ],
        path: "Tests/AdministrationTests",
        swiftSettings: settings
    ),
    .testTarget(
        name: "AssetStoreTests",
        dependencies: [
            "AssetStorage", "AssetStore", "FileIO", "RecordStore", "StorageContract", "RecordModel",
            "TestSupport",
            nio("NIOCore"), crypto,
        ],
        path: "Tests/AssetStoreTests",
        swiftSettings: settings
    ),
    .testTarget(
        name: "AccessTokensTests",
        dependencies: ["AccessTokens", "TestSupport", crypto, jwt],
        path: "Tests/AccessTokensTests",
        swiftSettings: settings
    ),
    .testTarget(
        name: "RecordServerTests",
        dependencies: [
            "CloudKitTesting", "RecordServer", "AccessTokens", "Admission", "AssetStorage", "AssetStore",
            "SQLiteEngine", "RecordStore", "StorageContract",
            "Transport", "WireProtocol", "RecordModel", "ServerCertificates",
            "TestSupport", nio("NIOCore"), nio("NIOEmbedded"), nio("NIOPosix"), nio("NIOTLS"), nioSSL, crypto,
            logging,
        ],
        path: "Tests/RecordServerTests",
        swiftSettings: settings
    ),
    .testTarget(
        name: "ConsoleTests",
        dependencies: [
            "Console", "RecordClient", "SQLiteEngine", "RecordStore", "StorageContract", "RecordModel",
            "TestSupport",
            "WireProtocol", "tidemark", hummingbird, httpTypes, logging, nio("NIOCore"), nio("NIOEmbedded"),
            nio("NIOPosix"), crypto,
            serverOnly("ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
        ],
        path: "Tests/ConsoleTests",
        swiftSettings: settings
    ),
    .testTarget(
        name: "ServerCertificatesTests",
        dependencies: ["ServerCertificates", "TestSupport", x509, asn1],
        path: "Tests/ServerCertificatesTests",
        swiftSettings: settings
    ),
    .testTarget(
        name: "SystemCryptoTests",
        dependencies: ["SystemCrypto", "TestSupport", crypto],
        path: "Tests/SystemCryptoTests",
        swiftSettings: settings
    ),
    .testTarget(
        name: "FileIOTests",
        dependencies: ["FileIO", "SystemCrypto", "TestSupport", nio("NIOCore")],
        path: "Tests/FileIOTests",
        swiftSettings: settings
    ),
    .testTarget(
        name: "RecordClientTests",
        dependencies: [
            "RecordClient", "Transport", "WireProtocol", "FileIO", "RecordModel", "TestSupport",
            nio("NIOCore"), nio("NIOEmbedded"), nio("NIOPosix"), nio("NIOTLS"), nioSSL,
        ],
        path: "Tests/RecordClientTests",
        swiftSettings: settings
    ),
    .testTarget(
        name: "LoadTestTests",
        dependencies: ["tidemark-load", "RecordClient", "WireProtocol", "RecordModel", "TestSupport"],
        path: "Tests/LoadTestTests",
        swiftSettings: settings
    ),
    .testTarget(
        name: "CloudKitTests",
        dependencies: [
            "CloudKit", "CoreLocation", "RecordClient", "WireProtocol", "FileIO", "PredicateFormat",
            "RecordModel", "TestSupport", crypto,
        ],
        path: "Tests/CloudKitTests",
        swiftSettings: userSettings
    ),
    .testTarget(
        name: "MirrorTests",
        dependencies: [
            "CloudKit", "CloudKitMirror", "CloudKitTesting", "TestSupport", "tidemark", "tidemark-mirror",
            mirrorGRDB,
        ],
        path: "Tests/MirrorTests",
        swiftSettings: settings
    ),
    .testTarget(
        name: "IntegrationTests",
        dependencies: [
            "Administration", "CloudKit", "CloudKitTesting", "Console", "RecordClient", "WireProtocol",
            "FileIO", "RecordModel",
            "RecordServer", "ServerCertificates", "MonitoringEndpoint", "PostgreSQLCluster",
            "PostgreSQLEngine", "RecordStore", "StorageContract", "TestSupport",
            nio("NIOCore"),
            nio("NIOPosix"), nioSSL, crypto, logging, "tidemark", "tidemark-listen",
            "tidemark-load",
        ],
        path: "Tests/IntegrationTests",
        swiftSettings: settings
    ),
    // Their code is in the shape of users' code, too: each block of the articles is a part of it.
    .testTarget(
        name: "GuideTests",
        dependencies: [
            "CloudKit", "CloudKitTesting", "TestSupport", "tidemark", "tidemark-listen", "tidemark-load",
            "tidemark-mirror",
        ],
        path: "Tests/GuideTests",
        swiftSettings: userSettings
    ),
    .executableTarget(
        name: "AssetWorker",
        dependencies: ["SQLiteEngine", "RecordStore", "StorageContract", "RecordModel", "TestSupport"],
        path: "Tests/AssetWorker",
        swiftSettings: settings
    ),
    .testTarget(
        name: "CrashTests",
        dependencies: [
            "CloudKitTesting", "RecordClient", "RecordModel", "PostgreSQLCluster", "TestSupport",
            "AssetWorker", "tidemark",
        ],
        path: "Tests/CrashTests",
        swiftSettings: settings
    ),
    .testTarget(
        name: "WebServicesTests",
        dependencies: [
            "WebServices", "CloudKit", "RecordServer", "SystemCrypto", "RecordJSON", "RecordModel",
            "TestSupport", nio("NIOHTTP1"), "tidemark",
        ],
        path: "Tests/WebServicesTests",
        swiftSettings: settings
    ),
    .testTarget(name: "TidyTests", path: "Tests/TidyTests", swiftSettings: settings),
]

/// Built only when asked for, in a scratch folder of its own: `Scripts/bench` sets the variable.
let benchmarkTargets: [Target] = [
    .executableTarget(
        name: "tidemark-bare-stream",
        dependencies: [
            "SystemCrypto", argumentParser, nio("NIOCore"), nio("NIOPosix"), nio("NIOTLS"), nioSSL,
        ],
        path: "Tests/Benchmarks/BareStream",
        swiftSettings: settings
    ),
    .executableTarget(
        name: "tidemark-peers",
        dependencies: [argumentParser, nio("NIOCore"), nio("NIOPosix"), nioSSL],
        path: "Tests/Benchmarks/Peers",
        swiftSettings: settings
    ),
    .executableTarget(
        name: "EngineBenchmark",
        dependencies: ["SQLiteEngine", "RecordStore", "StorageContract", "RecordModel", "TestSupport"],
        path: "Tests/Benchmarks/EngineBenchmark",
        swiftSettings: settings
    ),
]
let isBenchmarkWanted = Context.environment["TIDEMARK_BENCH"] != nil

/// Only with libFuzzer's flags (`Scripts/fuzz`): it brings the `main` of the executable.
let fuzzTargets: [Target] =
    Context.environment["TIDEMARK_FUZZ"] == nil
    ? []
    : [
        .executableTarget(
            name: "FuzzFrames",
            dependencies: ["FuzzInput"],
            path: "Tests/Fuzz/FuzzFrames",
            swiftSettings: settings
        )
    ]

let package = Package(
    name: "tidemark",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "CloudKit", targets: ["CloudKit"]),
        .library(name: "CoreLocation", targets: ["CoreLocation"]),
        .library(name: "CloudKitTesting", targets: ["CloudKitTesting"]),
        .library(name: "CloudKitMirror", targets: ["CloudKitMirror"]),
        .executable(name: "tidemark", targets: ["tidemark"]),
        .executable(name: "tidemark-listen", targets: ["tidemark-listen"]),
        .executable(name: "tidemark-load", targets: ["tidemark-load"]),
        .executable(name: "tidemark-mirror", targets: ["tidemark-mirror"]),
    ],
    // On, so that this repository builds whole. A package that needs the client alone says `traits: []`.
    traits: [
        .trait(name: "Server", description: "The server, the programs and CloudKitTesting."),
        .trait(name: "Mirror", description: "CloudKitMirror, which needs GRDB."),
        .default(enabledTraits: ["Server"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.0"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: protocolTargets + serverTargets + clientTargets + testTargets + fuzzTargets
        + (isBenchmarkWanted ? benchmarkTargets : []),
    swiftLanguageModes: [.v6]
)
