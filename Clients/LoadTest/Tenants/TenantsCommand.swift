import ArgumentParser
import Foundation
import RecordModel

/// Runs many tenants of very different greed at once, and reports what each of them got.
struct TenantsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tenants",
        abstract: "Run many tenants of very different greed at once, and report what each of them got.",
        discussion: """
            Each tenant is a user of its own, so --tokens needs as many as there are tenants.
            Of 100 tenants, 60 are ordinary and equal, with one request at a time; 14 make
            the same requests, but 2 to 128 at a time; 8 save batches of 400, 6 query all
            their records, 6 read slowly, and 6 send bursts of 64. The same seed gives the
            same roles to the same tokens. A rejected tenant waits for the time that the
            server names.

              tidemark-load --tenants --tokens ./tokens
              tidemark-load tenants 20 --tokens ./tokens --duration 5 --jain-min 0.95
              tidemark-load tenants --tokens ./tokens --json out.json --report page.html
              Scripts/load --tenants --jain-min 0.95

            Jain's index of the ordinary tenants is (Σx)² / (n Σx²), with the work x of
            each. It is 1 if all got the same. At the end, all records are read back, and all
            zones are deleted.
            """
    )

    @Argument(help: "Tenants.")
    var tenants = 100

    @OptionGroup(title: "Connection")
    var connection: LoadConnectionOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Length of the measurement in seconds.", valueName: "seconds")
    )
    var duration = 10.0

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Length of the warm-up in seconds.", valueName: "seconds")
    )
    var warmUp = 2.0

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Seconds after which a request fails.", valueName: "seconds")
    )
    var timeout = 30.0

    @Option(parsing: .unconditional, help: "Bytes of a record's payload.")
    var recordBytes = 200

    @Option(parsing: .unconditional, help: "Seed of the tenants' roles, and of keys and contents.")
    var seed: UInt64 = 1

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Exit with 1 if Jain's index of the ordinary tenants' work is below this.",
            valueName: "index"
        )
    )
    var jainMin: Double?

    @Option(help: ArgumentHelp("Write the full report as JSON.", valueName: "file"))
    var json: String?

    @Option(help: ArgumentHelp("Write a page for people, with charts.", valueName: "file.html"))
    var report: String?

    @Flag(help: "Keep the zones.")
    var keep = false

    mutating func validate() throws {
        try LoadOptions.check(self.tenants, 4...1_000, "The number of tenants")
        try LoadOptions.check(self.duration, 0.1...3_600, "--duration")
        try LoadOptions.check(self.warmUp, 0...3_600, "--warm-up")
        try LoadOptions.check(self.timeout, 1...3_600, "--timeout")
        // A batch of 400 has to fit into a request.
        try LoadOptions.check(self.recordBytes, Contents.headerBytes...4_000, "--record-bytes")
        if let jainMin { try LoadOptions.check(jainMin, 0...1, "--jain-min") }
    }

    func run() async throws {
        let target = try self.connection.target()
        guard target.tokens.count >= self.tenants else {
            throw LoadFailure(
                .usage,
                "\(self.tenants) tenants need a user each, but there are \(target.tokens.count) tokens: name a file "
                    + "with one per line (--tokens), or use fewer tenants"
            )
        }
        let json = try self.json.map { path throws(LoadFailure) in try OutputFile(path) }
        let report = try self.report.map { path throws(LoadFailure) in try OutputFile(path) }
        let result: TenantResult
        do {
            Interruption.arm()
            defer { Interruption.disarm() }
            result = try await TenantRun(plan: self.plan, target: target, live: LiveLine()).run()
        } catch {
            json?.discard()
            report?.discard()
            throw error
        }
        print(PrintedText.lines(TenantText(result: result).text), terminator: "")
        try json?.write(TenantJSON(result).data())
        try report?.write(Data(TenantPage(result: result).text.utf8))
        if result.isInterrupted { throw LoadFailure(.interrupted, "interrupted") }
        if let verdict = result.verdict, !verdict.isGood {
            throw LoadFailure(
                .violated,
                "\(verdict.violations.count) findings differ from what was acknowledged; the zones were kept for you to look at"
            )
        }
        if !result.isFair { throw LoadFailure(.beyondBound, "the ordinary tenants did not get equal shares") }
    }

    private var plan: TenantPlan {
        TenantPlan(
            tenants: self.tenants,
            warmUpSeconds: self.warmUp,
            durationSeconds: self.duration,
            timeoutSeconds: self.timeout,
            recordBytes: self.recordBytes,
            seed: self.seed,
            jainMin: self.jainMin,
            keepsZones: self.keep
        )
    }
}
