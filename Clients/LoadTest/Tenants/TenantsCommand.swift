import ArgumentParser
import Foundation

/// Runs many tenants of very different greed at once, and reports what each of them got.
struct TenantsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tenants",
        abstract: "Has many tenants of very different greed at once, and says what each got.",
        discussion: """
            Each tenant is a user of its own, so --tokens needs as many as there are tenants.
            Of 100 tenants 60 are ordinary, equal ones with a request at a time; 14 ask for
            the same things with 2 to 128 at a time; 8 save batches of 400, 6 query all they
            have, 6 read slowly, and 6 come in bursts of 64. The same seed gives the same
            roles to the same tokens. Whoever is refused waits for the time that he is told.

              tidemark-load --tenants --tokens ./tokens
              tidemark-load tenants 20 --tokens ./tokens --duration 5 --jain-min 0.95
              tidemark-load tenants --tokens ./tokens --json out.json --report page.html
              Scripts/load --tenants --jain-min 0.95

            Jain's index of the ordinary tenants is (Σx)² / (n Σx²), of the work x of each:
            1 if all got the same. All records are read back at the end, and all zones go.
            """
    )

    @Argument(help: "Tenants.")
    var tenants = 100

    @OptionGroup(title: "Connection")
    var connection: LoadConnectionOptions

    @Option(parsing: .unconditional, help: ArgumentHelp("Seconds that are measured.", valueName: "seconds"))
    var duration = 10.0

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Seconds of the same before them.", valueName: "seconds")
    )
    var warmUp = 2.0

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Seconds after which a request fails.", valueName: "seconds")
    )
    var timeout = 30.0

    @Option(parsing: .unconditional, help: "Bytes of a record's payload.")
    var recordBytes = 200

    @Option(parsing: .unconditional, help: "Of the tenants' roles, and of keys and contents.")
    var seed: UInt64 = 1

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "End with 1 if Jain's index of the ordinary tenants' work is below this.",
            valueName: "index"
        )
    )
    var jainMin: Double?

    @Option(help: ArgumentHelp("Write everything as JSON.", valueName: "file"))
    var json: String?

    @Option(help: ArgumentHelp("Write a page for people, with pictures.", valueName: "file.html"))
    var report: String?

    @Flag(help: "Leave the zones where they are.")
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
                "\(self.tenants) tenants need a user each, and there are tokens of \(target.tokens.count): name a file "
                    + "with one a line (--tokens), or ask for fewer tenants"
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
        print(TenantText(result: result).text, terminator: "")
        try json?.write(TenantJSON(result).data())
        try report?.write(Data(TenantPage(result: result).text.utf8))
        if result.isInterrupted { throw LoadFailure(.interrupted, "interrupted") }
        if let verdict = result.verdict, !verdict.isGood {
            throw LoadFailure(
                .violated,
                "\(verdict.violations.count) findings are not what was acknowledged; the zones were left for you to look at"
            )
        }
        if !result.isFair { throw LoadFailure(.unfair, "the ordinary tenants did not get equal shares") }
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
