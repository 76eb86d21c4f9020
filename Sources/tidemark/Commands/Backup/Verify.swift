import Administration
import ArgumentParser
import RecordStore
import StorageContract

/// The command `tidemark verify`.
struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Compare everything in a store that follows from something else.",
        discussion: """
            Reads all pages, records and files: indexes, references, counters, positions, \
            shares, histories, and the hashes of files. Works while the server runs, and \
            reads no faster than the rate. It prints what is damaged, what that means and \
            which command helps, and exits with 65 if there is anything. With --repair it \
            puts right what can be put right without any loss: indexes are built anew, \
            counters are counted again.

              tidemark verify --data /var/lib/tidemark
              tidemark verify --only iCloud.org.example.app --repair
            """
    )

    @OptionGroup var data: DataOption

    @Option(help: ArgumentHelp("Look at the records of this container alone.", valueName: "id"))
    var only: String?

    @Option(help: ArgumentHelp("Read at most this many MiB a second; 0 for no bound.", valueName: "mib"))
    var rate = 50

    @Flag(help: "Put right what can be put right without any loss.")
    var repair = false

    @Flag(help: "Print a JSON object with counts, an array findings of objects, and lines of damaged pages.")
    var json = false

    func validate() throws {
        guard self.rate >= 0 else { throw ValidationError("--rate is 0 or more.") }
    }

    func run() async throws {
        let folder = self.data.folder
        let bar = TerminalProgress()
        let (report, repairs) = try await AdministeredStore.open(folder) { store in
            var run = VerificationRun(of: store)
            run.container = self.only
            run.mebibytesPerSecond = self.rate
            run.files = AssetFiles(in: folder.assetsPath)
            if !StoreAddress.exists(in: folder) { run.source = try self.source(of: folder) }
            run.progress = { _, done, total in bar.show(done, of: total) }
            do {
                let report = try await run.run()
                return (report, self.repair ? try run.repair(report) : 0)
            } catch let error as StoreCopyError {
                throw CopyAdvice.failure(error, in: folder.path)
            } catch let error as StoreError {
                throw RecordAdvice.failure(error, doing: "the store cannot be read")
            }
        }
        bar.clear()
        let output = VerifyOutput(report, repairs: repairs, files: AssetFiles(in: folder.assetsPath))
        Terminal.write(try self.json ? JSONText.of(output) : output.text)
        guard !report.isClean else { return }
        let left =
            self.repair ? "What --repair cannot put right needs the commands above." : "Nothing was changed."
        throw CommandFailure(.data, "\(output.count) findings in \(folder.path). \(left)")
    }

    private func source(of folder: DataFolder) throws -> any StoreSource {
        do throws(StoreCopyError) {
            return try EngineOpening.files.source(in: folder.path)
        } catch {
            throw CopyAdvice.failure(error, in: folder.path)
        }
    }
}

/// The result of `tidemark verify`.
private struct VerifyOutput: Encodable {
    struct Finding: Encodable {
        var kind: String
        var container: String?
        var environment: String?
        var database: String?
        /// The user record name of the database's owner.
        var owner: String?
        var zone: String?
        var record: String?
        var detail: String
        var meaning: String
        var remedy: String
    }

    var databases: Int
    var zones: Int
    var records: Int64
    var assets: Int
    var findings: [Finding]
    /// All, also beyond those that are listed.
    var count: Int
    /// Zones with counters that were not compared, because they changed all the time.
    var uncounted: Int
    var pages: [String]
    var repairs: Int
    private var all: [StoreFinding]

    private enum CodingKeys: CodingKey {
        case databases, zones, records, assets, findings, count, uncounted, pages, repairs
    }

    init(_ report: VerificationRun.Report, repairs: Int, files: AssetFiles) {
        let verified = report.verified
        let damaged = report.files.damaged.map { asset in
            let detail = "assets/\(files.name(of: asset.stored.number)) \(asset.condition.text)"
            return StoreFinding(.assetFile, at: .init(), detail)
        }
        self.all = verified.findings + damaged
        self.databases = verified.databases
        self.zones = verified.zones
        self.records = verified.records
        self.assets = report.files.assets
        self.uncounted = verified.uncounted.count
        self.pages = report.pages
        self.repairs = repairs
        self.count = verified.findingsCount + damaged.count + report.pages.count
        self.findings = self.all.map { finding in
            Finding(
                kind: finding.kind.rawValue,
                container: finding.place.container,
                environment: finding.place.environment.map { "\(EnvironmentName($0))" },
                database: finding.place.scope.map { "\(DatabaseName($0))" },
                owner: finding.place.owner,
                zone: finding.place.zone,
                record: finding.place.record,
                detail: finding.detail,
                meaning: finding.kind.meaning,
                remedy: finding.kind.remedy
            )
        }
    }

    /// Findings by kind, each with what it means and what helps.
    var text: String {
        var text = ""
        if !self.pages.isEmpty {
            text += "pages of the database are damaged. Restore a backup: tidemark restore --help\n"
            text += self.pages.map { "  \($0)\n" }.joined()
        }
        for kind in StoreFinding.Kind.allCases {
            let findings = self.all.filter { $0.kind == kind }
            guard !findings.isEmpty else { continue }
            text += "\(kind.meaning). \(kind.remedy)\n"
            for finding in findings {
                text += "  \(finding.placeText)\(finding.detail.isEmpty ? "" : " (\(finding.detail))")\n"
            }
        }
        text +=
            "\(self.databases) databases, \(self.zones) zones, \(self.records) records, \(self.assets) files: "
        text += "\(self.count) findings\n"
        if self.uncounted > 0 {
            text += "\(self.uncounted) zones changed all the time, and were not counted\n"
        }
        if self.repairs > 0 {
            text +=
                "\(self.repairs) repairs made. A server builds indexes some time later: then verify again.\n"
        }
        return text
    }
}
