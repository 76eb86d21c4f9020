import Administration
import ArgumentParser
import AssetStorage
import RecordModel
import StorageContract

/// The command `tidemark assets verify`.
struct AssetsVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Read every asset, and compare its bytes with its hash.",
        discussion: """
            Works while the server runs. Exits with 65 if a file is missing or has \
            other bytes than were uploaded. All such files are listed. Restore them \
            from a backup of the folder assets.

              tidemark assets verify --data /var/lib/tidemark --json
            """
    )

    @OptionGroup var data: DataOption

    @Flag(help: "Print a JSON object with assets, bytes, and an array damaged of objects.")
    var json = false

    func run() async throws {
        let folder = self.data.folder
        let files = AssetFiles(in: folder.assetsPath)
        let bar = TerminalProgress()
        let verified = try await AdministeredStore.open(folder) { store in
            do throws(StoreError) {
                return try AssetVerification(of: store, files: files).run { bar.show($0, of: $1) }
            } catch {
                throw CommandFailure(.unavailable, "the list of assets cannot be read: try again.")
            }
        }
        bar.clear()
        let report = AssetReport(verified, in: files)
        Terminal.write(try self.json ? JSONText.of(report) : report.text)
        guard report.damaged.isEmpty else {
            throw CommandFailure(
                .data,
                "\(report.damaged.count) of \(report.assets) assets are damaged. "
                    + "Restore their files from a backup of \(folder.assetsPath)."
            )
        }
    }
}

/// The result of `tidemark assets verify`.
struct AssetReport: Encodable, Hashable {
    struct Damaged: Codable, Hashable {
        /// The path of the file, relative to the data folder.
        var file: String
        var sha256: String
        var size: Int64
        /// The damage, as a phrase.
        var problem: String
    }

    var assets = 0
    /// Size of all assets, as recorded.
    var bytes: Int64 = 0
    var damaged: [Damaged] = []

    var text: String {
        Self.table(of: self.damaged)
            + "\(self.assets) assets, \(self.bytes) bytes: \(self.assets - self.damaged.count) intact\n"
    }

    /// Empty if there are none.
    static func table(of damaged: [Damaged]) -> String {
        guard !damaged.isEmpty else { return "" }
        return Terminal.table(
            header: ["FILE", "PROBLEM", "BYTES", "SHA-256"],
            rows: damaged.map { [$0.file, $0.problem, "\($0.size)", $0.sha256] }
        )
    }
}

extension AssetReport {
    init(_ verified: VerifiedAssets, in files: AssetFiles) {
        self.assets = verified.assets
        self.bytes = verified.bytes
        self.damaged = verified.damaged.map { Damaged($0.stored, $0.condition, in: files) }
    }
}

extension AssetReport.Damaged {
    init(_ stored: StoredAsset, _ condition: AssetCondition, in files: AssetFiles) {
        self.init(
            file: "assets/" + files.name(of: stored.number),
            sha256: stored.asset.sha256.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(),
            size: stored.asset.size,
            problem: condition.text
        )
    }
}

extension AssetCondition {
    /// The condition of the file, as a phrase.
    var text: String {
        switch self {
        case .intact: "intact"
        case .missing: "missing"
        case .wrongSize(let bytes): "has \(bytes) bytes"
        case .differs: "has other bytes"
        case .unreadable(let code): "cannot be read (error \(code))"
        }
    }
}
