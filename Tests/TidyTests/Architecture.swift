/// Which module may use which: the table of the architecture.
struct ModuleRow {
    /// The folder of the target.
    let folder: String
    let ours: [String]
    let outside: [String]
}

enum Architecture {
    static let rows: [ModuleRow] = [
        ModuleRow(folder: "Protocol/RecordModel", ours: [], outside: []),
        ModuleRow(
            folder: "Protocol/WireProtocol",
            ours: ["RecordModel"],
            outside: ["NIOCore"]
        ),
        ModuleRow(folder: "Protocol/Transport", ours: ["WireProtocol", "FileIO"], outside: ["NIOCore"]),
        ModuleRow(folder: "Sources/CLibCrypto", ours: [], outside: []),
        ModuleRow(folder: "Sources/SystemCrypto", ours: ["CLibCrypto"], outside: []),
        ModuleRow(folder: "Sources/FileIO", ours: ["SystemCrypto"], outside: ["NIOCore", "NIOPosix"]),
        ModuleRow(folder: "Sources/StorageContract", ours: ["RecordModel"], outside: []),
        ModuleRow(folder: "Sources/RecordStore", ours: ["StorageContract", "RecordModel"], outside: []),
        ModuleRow(folder: "Sources/Admission", ours: ["RecordModel"], outside: []),
        ModuleRow(folder: "Sources/EngineThreads", ours: ["Admission", "StorageContract"], outside: []),
        ModuleRow(folder: "Sources/SQLiteSetup", ours: [], outside: ["GRDBSQLite"]),
        ModuleRow(
            folder: "Sources/SQLiteEngine",
            ours: ["Admission", "EngineThreads", "StorageContract", "RecordModel", "SQLiteSetup"],
            outside: ["GRDB", "GRDBSQLite"]
        ),
        ModuleRow(
            folder: "Sources/PostgreSQLEngine",
            ours: ["Admission", "EngineThreads", "StorageContract", "RecordModel", "CLibPQ"],
            outside: []
        ),
        ModuleRow(folder: "Sources/CLibPQ", ours: [], outside: []),
        ModuleRow(folder: "Sources/CMalloc", ours: [], outside: []),
        ModuleRow(
            folder: "Sources/AssetStorage",
            ours: ["StorageContract", "RecordModel"],
            outside: ["NIOCore"]
        ),
        ModuleRow(
            folder: "Sources/AssetStore",
            ours: ["AssetStorage", "StorageContract", "RecordModel", "FileIO", "SystemCrypto"],
            outside: ["NIOCore"]
        ),
        ModuleRow(folder: "Sources/AccessTokens", ours: [], outside: ["JWTKit"]),
        ModuleRow(
            folder: "Sources/RecordServer",
            ours: [
                "AccessTokens", "Admission", "AssetStorage", "EngineThreads", "FileIO", "RecordStore",
                "StorageContract", "SystemCrypto",
                "Transport", "WireProtocol", "RecordModel",
            ],
            outside: ["NIOCore", "NIOPosix", "NIOTLS", "NIOSSL", "Logging"]
        ),
        ModuleRow(folder: "Sources/RecordJSON", ours: ["RecordModel"], outside: []),
        ModuleRow(
            folder: "Sources/ZoneBundles",
            ours: ["FileIO", "SystemCrypto", "WireProtocol", "RecordModel"],
            outside: ["NIOCore"]
        ),
        ModuleRow(folder: "Sources/ServerCertificates", ours: [], outside: ["X509", "SwiftASN1", "Crypto"]),
        ModuleRow(
            folder: "Sources/MonitoringEndpoint",
            ours: ["FileIO"],
            outside: ["NIOCore", "NIOPosix", "NIOHTTP1", "Logging"]
        ),
        ModuleRow(
            folder: "Sources/WebServices",
            ours: [
                "RecordServer", "StorageContract", "SystemCrypto", "WireProtocol", "RecordModel",
                "RecordJSON",
            ],
            outside: ["NIOCore", "NIOHTTP1"]
        ),
        ModuleRow(
            folder: "Sources/Console",
            ours: [
                "RecordStore", "StorageContract", "SystemCrypto", "RecordModel", "PredicateFormat",
                "RecordJSON",
            ],
            outside: [
                "Hummingbird", "HummingbirdCore", "HTTPTypes", "NIOCore", "NIOPosix", "ServiceLifecycle",
                "UnixSignals", "Logging",
            ]
        ),
        ModuleRow(
            folder: "Sources/Administration",
            ours: [
                "RecordServer", "AssetStorage", "AssetStore", "FileIO", "RecordStore", "StorageContract",
                "SystemCrypto", "RecordModel",
                "RecordJSON", "ZoneBundles",
            ],
            outside: []
        ),
        ModuleRow(
            folder: "Sources/tidemark",
            ours: [
                "Administration", "Admission", "Console", "RecordClient", "WireProtocol", "RecordServer",
                "AccessTokens",
                "AssetStorage",
                "AssetStore", "FileIO",
                "MonitoringEndpoint", "SQLiteEngine", "PostgreSQLEngine", "RecordStore", "StorageContract",
                "RecordModel",
                "RecordJSON", "WebServices",
                "PredicateFormat", "ServerCertificates", "SystemCrypto", "ZoneBundles", "CMalloc",
            ],
            outside: [
                "ArgumentParser", "ServiceLifecycle", "UnixSignals", "Configuration", "Logging",
            ]
        ),
        ModuleRow(
            folder: "Clients/RecordClient",
            ours: ["Transport", "WireProtocol", "FileIO", "SystemCrypto", "RecordModel"],
            outside: ["NIOCore", "NIOPosix", "NIOTLS", "NIOSSL", "Logging"]
        ),
        ModuleRow(folder: "Clients/PredicateFormat", ours: ["RecordModel"], outside: []),
        ModuleRow(folder: "Clients/CoreLocation", ours: [], outside: []),
        ModuleRow(folder: "Clients/CloudKitRuntime", ours: [], outside: []),
        ModuleRow(
            folder: "Clients/CloudKit",
            ours: [
                "RecordClient", "WireProtocol", "FileIO", "SystemCrypto", "PredicateFormat", "RecordModel",
                "CoreLocation", "CloudKitRuntime",
            ],
            outside: []
        ),
        ModuleRow(
            folder: "Clients/CloudKitTesting",
            ours: [
                "CloudKit", "RecordClient", "RecordServer", "AssetStore", "SQLiteEngine", "RecordStore",
                "StorageContract",
                "RecordModel", "WireProtocol", "ServerCertificates",
            ],
            outside: ["Logging"]
        ),
        ModuleRow(folder: "Clients/CloudKitMirror", ours: ["CloudKit", "RecordModel"], outside: ["GRDB"]),
        ModuleRow(
            folder: "Clients/MirrorCommand",
            ours: ["CloudKit", "CloudKitMirror", "RecordModel"],
            outside: ["ArgumentParser", "UnixSignals"]
        ),
        ModuleRow(
            folder: "Clients/LoadTest",
            ours: ["CloudKit", "RecordClient", "WireProtocol", "FileIO", "SystemCrypto", "RecordModel"],
            outside: ["ArgumentParser", "Histogram"]
        ),
        ModuleRow(
            folder: "Clients/Listener",
            ours: ["CloudKit", "RecordModel"],
            outside: ["ArgumentParser", "UnixSignals"]
        ),
        ModuleRow(folder: "Clients/Examples/ISOCodes", ours: ["CloudKit"], outside: []),
        ModuleRow(folder: "Clients/Examples/Notes", ours: ["CloudKit"], outside: []),
        ModuleRow(folder: "Clients/Examples/SharedList", ours: ["CloudKit"], outside: []),
    ]

    /// Modules of the toolchain that every target may use, unless `withoutFoundation` names it.
    static let toolchain = [
        "Swift", "Foundation", "FoundationEssentials", "Observation", "Synchronization", "Glibc", "Musl",
        "Darwin",
        "Dispatch",
    ]

    /// Nothing but the language: what they hold is the same on every platform, and costs nothing to link.
    static let withoutFoundation = [
        "Protocol/RecordModel", "Clients/PredicateFormat", "Sources/Admission", "Sources/StorageContract",
        "Sources/RecordStore",
    ]

    /// The files and folders that alone name a module which stores something, of the program and of its
    /// operations.
    static let openings = [
        "SQLiteEngine": ["Sources/tidemark/Opening/EngineOpening.swift"],
        "PostgreSQLEngine": ["Sources/tidemark/Opening/PostgreSQL/"],
        "AssetStore": [
            "Sources/tidemark/Opening/AssetsOpening.swift", "Sources/Administration/Folder/AssetFiles.swift",
        ],
    ]

    static var ourModules: [String] {
        self.rows.map { String($0.folder.split(separator: "/").last ?? "") }
    }
}

extension Rules {
    /// A dependency has its owners; another module asks one of them.
    @Sendable
    static func moduleOwners(_ file: SourceFile) -> [Offence] {
        if file.isTest { return [] }
        guard let row = Architecture.rows.first(where: { $0.folder == file.targetFolder }) else {
            return [
                Offence(
                    path: file.path,
                    line: 1,
                    advice: "no row for \(file.targetFolder) in Architecture.swift"
                )
            ]
        }
        return file.imports.compactMap { module, line in
            if Architecture.withoutFoundation.contains(row.folder), module.hasPrefix("Foundation") {
                return Offence(path: file.path, line: line, advice: "\(row.folder) does without Foundation")
            }
            if Architecture.toolchain.contains(module) || Architecture.ourModules.contains(module) {
                return nil
            }
            guard !row.outside.contains(module) else { return nil }
            let owners = Architecture.rows.filter { $0.outside.contains(module) }.map(\.folder)
            let advice = "\(module) belongs to \(owners.isEmpty ? "nobody" : owners.joined(separator: ", "))"
            return Offence(path: file.path, line: line, advice: advice)
        }
    }

    /// Arrows never turn back, and clients and server meet in `Protocol/`, `Sources/FileIO` and
    /// `Sources/SystemCrypto` only.
    @Sendable
    static func importDirection(_ file: SourceFile) -> [Offence] {
        guard !file.isTest, let row = Architecture.rows.first(where: { $0.folder == file.targetFolder })
        else { return [] }
        return file.imports.compactMap { module, line in
            guard Architecture.ourModules.contains(module), !row.ours.contains(module) else { return nil }
            let allowed = row.ours.isEmpty ? "nothing of ours" : row.ours.joined(separator: ", ")
            return Offence(
                path: file.path,
                line: line,
                advice: "\(row.folder) may import \(allowed), not \(module)"
            )
        }
    }

    /// The program names an engine in one place, and a byte store in another: a second one of them
    /// is a change of that place.
    @Sendable
    static func openings(_ file: SourceFile) -> [Offence] {
        guard ["Sources/tidemark", "Sources/Administration"].contains(file.targetFolder) else { return [] }
        return file.imports.compactMap { module, line in
            guard let openings = Architecture.openings[module],
                !openings.contains(where: { file.path.hasPrefix($0) })
            else { return nil }
            let names = openings.joined(separator: " and ")
            return Offence(path: file.path, line: line, advice: "only \(names) may name \(module)")
        }
    }
}
