import ArgumentParser
import CloudKit
import CloudKitMirror
import RecordModel
import UnixSignals

/// Keeps a SQLite file in step with zones of a private database.
@main
struct TidemarkMirror: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidemark-mirror",
        abstract: "Keeps a SQLite file in step with zones of a private database.",
        discussion: """
            Each record type is a table. Any program may read and write the tables, also
            while tidemark-mirror is not running: it sends the changes when it is back.
            The first run makes the file, and names its zones and tables. Later runs
            need the file alone, and may add zones, tables and columns.

              tidemark-mirror my.sqlite --zone Shop --table 'Order total:double'
              tidemark-mirror my.sqlite
              tidemark-mirror my.sqlite --once --timeout 60
              tidemark-mirror my.sqlite --status --json

            The server and the credential are those of TIDEMARK_URL, TIDEMARK_TOKEN and the
            other variables of the SDK. The table tidemark_pending has the changes that
            the server does not have, and tidemark_conflict the values that were
            overruled.

            Exit codes: 0 stopped by SIGTERM or SIGINT, or in step (--once), 64 wrong
            usage, 65 the server refuses the token, 69 not in step in time (--once), 73 the
            file cannot be used, 78 a setting can never work: address, container.
            """,
        version: Release.version
    )

    @Argument(help: "The SQLite file; it is made if it is missing.")
    var file: String

    @Option(help: "The container; by default TIDEMARK_CONTAINER.")
    var container: String?

    @Option(
        help: ArgumentHelp(
            "A zone to mirror; it is created if it is missing. May be repeated.",
            valueName: "name"
        )
    )
    var zone: [String] = []

    @Option(
        help: ArgumentHelp(
            "A record type and its fields. May be repeated.",
            discussion: """
                A field is NAME:KIND, and may be followed by :indexed, :encrypted or :deletesSelf. Kinds are \
                string, int64, double, date, bytes and reference.
                """,
            valueName: "declaration"
        )
    )
    var table: [TableDeclaration] = []

    @Option(
        help: "The side that wins a conflict: fieldwise (the newer change), server or client.",
        transform: { text in
            guard let policy = MirrorConflictPolicy(rawValue: text) else {
                throw ValidationError("use fieldwise, server or client")
            }
            return policy
        }
    )
    var conflicts = MirrorConflictPolicy.fieldwise

    @Flag(help: "End when the file and the server have the same.")
    var once = false

    @Option(help: ArgumentHelp("With --once: how long to try.", valueName: "seconds"))
    var timeout = 300.0

    @Flag(help: "Print what waits, is parked and was overruled, and end; the server is not asked.")
    var status = false

    @Flag(help: "With --status or --once: print the counts as JSON.")
    var json = false

    static func main() async {
        do {
            try await self.parseOrExit().run()
        } catch let failure as MirrorFailure {
            Output.status(failure.message)
            Foundation.exit(failure.code.rawValue)
        } catch {
            self.exit(withError: error)
        }
    }

    func validate() throws {
        guard (0.1...86_400).contains(self.timeout) else {
            throw ValidationError("--timeout takes 0.1 to 86400 seconds.")
        }
        guard self.status || self.once || !self.json else {
            throw ValidationError("--json needs --status or --once.")
        }
        guard !self.status || (!self.once && self.zone.isEmpty && self.table.isEmpty) else {
            throw ValidationError("--status changes nothing: leave out --once, --zone and --table.")
        }
    }

    func run() async throws {
        do {
            if self.status {
                return Output.line(self.text(try MirrorStatus(ofFileAt: self.file)))
            }
            let container = self.container.map { CKContainer(identifier: $0) } ?? .default()
            let mirror = try await Mirror(
                at: self.file,
                of: container,
                .init(zones: self.zone, tables: self.table.map(\.table), conflicts: self.conflicts)
            )
            try await self.untilSignalled { try await self.run(mirror) }
            await mirror.close()
        } catch let error as MirrorError {
            throw MirrorFailure(.file, error.description)
        } catch let error as CKError {
            throw MirrorFailure(error)
        }
    }

    private func text(_ status: MirrorStatus) -> String { self.json ? status.json : status.text }

    private func run(_ mirror: Mirror) async throws {
        let events = mirror.events()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await event in events {
                    Output.status(event.text)
                    if case .stopped(let error) = event { throw error }
                }
            }
            if self.once {
                let timeout = Duration.milliseconds(Int64(self.timeout * 1_000))
                group.addTask {
                    guard try await mirror.waitUntilCurrent(timeout: timeout) else {
                        let status = try await mirror.status()
                        throw MirrorFailure(.late, "not in step in time: \(status.text)")
                    }
                    Output.line(self.text(try await mirror.status()))
                }
            }
            try await group.next()
            group.cancelAll()
        }
    }

    /// Runs the body until it ends, or until a signal ends it.
    private func untilSignalled(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                do { try await body() } catch is CancellationError {}
            }
            group.addTask { for await _ in signals { return } }
            try await group.next()
            group.cancelAll()
            try await group.waitForAll()
        }
    }
}
