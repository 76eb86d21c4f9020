// A table of the lines of each module, without generated files. A bound only goes down.
//
// In the SDK no documentation counts: its users read nothing else of it.

enum ModuleLines {
    /// A module whose lines have fallen by so many below its bound gets a lower one.
    private static let slack = 200

    /// The modules that users of the SDK import.
    private static let productModules: Set = [
        "Clients/CloudKit", "Clients/CloudKitMirror", "Clients/CloudKitTesting", "Clients/CoreLocation",
    ]

    static let bounds: [String: Int] = [
        "Clients/CloudKit": 17_800,
        "Clients/CloudKitMirror": 2_500,
        "Clients/CloudKitTesting": 1_200,
        "Clients/CoreLocation": 500,
        "Clients/Examples/ISOCodes": 600,
        "Clients/Examples/Notes": 100,
        "Clients/Examples/SharedList": 200,
        "Clients/Listener": 1_700,
        "Clients/LoadTest": 10_950,
        "Clients/MirrorCommand": 300,
        "Clients/PredicateFormat": 1_900,
        "Clients/RecordClient": 4_500,
        "Protocol/RecordModel": 4_050,
        "Protocol/Transport": 800,
        "Protocol/WireProtocol": 3_900,
        "Sources/AccessTokens": 650,
        "Sources/Administration": 4_050,
        "Sources/Admission": 950,
        "Sources/AssetStorage": 400,
        "Sources/AssetStore": 1_500,
        "Sources/Console": 10_300,
        "Sources/EngineThreads": 1_350,
        "Sources/FileIO": 1_200,
        "Sources/MonitoringEndpoint": 700,
        "Sources/PostgreSQLEngine": 8_150,
        "Sources/RecordJSON": 2_650,
        "Sources/RecordServer": 13_050,
        "Sources/RecordStore": 25_150,
        "Sources/SQLiteEngine": 8_900,
        "Sources/ServerCertificates": 700,
        "Sources/StorageContract": 7_030,
        "Sources/SystemCrypto": 450,
        // CloudKit Web Services, with their entrance in RecordServer and their form in RecordJSON.
        "Sources/WebServices": 2_100,
        "Sources/ZoneBundles": 1_100,
        "Sources/tidemark": 17_400,
    ]

    /// The lines of each module that is shipped.
    static func counts(of files: [SourceFile]) -> [String: Int] {
        files.filter { !$0.isTest && !$0.isGenerated }.reduce(into: [:]) { counts, file in
            // A text that ends with a line break has an empty piece behind it.
            let lines = file.lines.last == "" ? file.lines.dropLast() : file.lines[...]
            let withDocumentation = !Self.productModules.contains(file.targetFolder)
            counts[file.targetFolder, default: 0] += lines.count(where: { line in
                withDocumentation || !line.drop { $0 == " " }.hasPrefix("///")
            })
        }
    }

    /// Says which modules have grown, and which bounds are too high by now.
    static func complaints(about counts: [String: Int], bounds: [String: Int]) -> [String] {
        Set(counts.keys).union(bounds.keys).sorted().compactMap { module in
            let (count, bound) = (counts[module] ?? 0, bounds[module] ?? 0)
            if count > bound { return "\(module) has \(count) lines, at most \(bound): remove some" }
            if count + self.slack <= bound { return "\(module) has \(count) lines: lower the bound \(bound)" }
            return nil
        }
    }
}
