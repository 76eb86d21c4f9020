import ArgumentParser
import CloudKit
import RecordModel
import UnixSignals

/// Prints notifications of a server, runs commands for them, and fetches what changed.
@main
struct TidemarkListen: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidemark-listen",
        abstract: "Prints a line for each notification of a Tidemark server, as it comes.",
        discussion: """
            The options are saved as a subscription, or an existing one with the same
            definition is used. It stays until --forget. Without --zone, --database
            and --query, notifications of all subscriptions of the user are printed.

              tidemark-listen --zone notes
              tidemark-listen --database --json
              tidemark-listen --query Note "pages > 10" --zone notes --fetch
              tidemark-listen --database --fetch --state ./state.json
              tidemark-listen --zone jobs --exec 'jq -r .zone | xargs ./work'
              tidemark-listen --zone jobs --forget

            Notifications and changes go to standard output, everything else to
            standard error. The program reconnects for ever. Changes of a time without
            connection are one notification per subscription, without details.

            Without a token or key, --public --query polls for changes every
            --interval seconds.

            Exit codes: 0 stopped by SIGTERM or SIGINT, 64 wrong usage, 65 the server
            refuses the request, the token or the key, 69 the server cannot be reached
            (with --forget), 70 a command failed (--stop-on-failure), 73 the state file
            cannot be used, 74 the output is closed, 78 a setting can never work:
            address, container, certificate or key file.
            """,
        version: Release.version
    )

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    @OptionGroup(title: "Subscriptions")
    var subscriptions: SubscriptionOptions

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "Run a shell command for each notification, with the notification as JSON on its standard input.",
            discussion: """
                Commands run one at a time, in order. A notification is acknowledged when its command has \
                ended. A failure is reported, and the next command follows.
                """,
            valueName: "command"
        )
    )
    var exec: String?

    @Flag(
        help: ArgumentHelp(
            "With --exec: end with 70 if a command fails.",
            discussion: "Its notification is not acknowledged, and comes again at the next start."
        )
    )
    var stopOnFailure = false

    @Flag(
        help: ArgumentHelp(
            "Fetch and print what changed, at the start and after each notification.",
            discussion: """
                With --query: the records that match, and those that matched and were deleted, or that changed \
                and no longer match ("left"). The latter come with the next notification, or at the next start.
                """
        )
    )
    var fetch = false

    @Option(
        help: ArgumentHelp(
            "With --fetch: the file with the position in the changes.",
            discussion: "By default tidemark/tidemark-listen/CONTAINER.json in the user's state folder.",
            valueName: "file"
        )
    )
    var state: String?

    @Flag(help: "With --fetch: skip earlier changes where there is no position yet.")
    var fromNow = false

    @Option(
        help: ArgumentHelp(
            "Without a token or key: the pause between two polls of the public database.",
            valueName: "seconds"
        )
    )
    var interval = 5.0

    @Flag(
        help: """
            Delete the subscriptions of these options, and end; without --zone, --database and --query all \
            that tidemark-listen has saved for the user.
            """
    )
    var forget = false

    static func main() async {
        do {
            try await self.parseOrExit().run()
        } catch let failure as ListenFailure {
            Output.status(failure.message)
            Foundation.exit(failure.code.rawValue)
        } catch {
            self.exit(withError: error)
        }
    }

    func validate() throws {
        guard self.fetch || (self.state == nil && !self.fromNow) else {
            throw ValidationError("--state and --from-now need --fetch.")
        }
        guard !self.forget || (!self.fetch && self.exec == nil && !self.json) else {
            throw ValidationError("--forget does not listen: leave out --fetch, --exec and --json.")
        }
        guard self.exec != nil || !self.stopOnFailure else {
            throw ValidationError("--stop-on-failure needs --exec.")
        }
        guard (0.1...86_400).contains(self.interval) else {
            throw ValidationError("--interval takes 0.1 to 86400 seconds.")
        }
    }

    func run() async throws {
        var target = try self.connection.target()
        let wanted = self.subscriptions.wanted()
        guard target.isSignedIn || (!self.forget && !wanted.isEmpty && wanted.allSatisfy(\.isPublic)) else {
            throw ListenFailure(
                .usage,
                "there is no credential: set TIDEMARK_TOKEN or TIDEMARK_SERVICE_KEY, or use --token or "
                    + "--service-key; without one use --public --query"
            )
        }
        // Other listeners may run beside this one, and each acknowledges for itself.
        if !wanted.isEmpty {
            target.connection.installationName = wanted.map(\.id).sorted().joined(separator: " ")
        }
        let container = CKContainer(identifier: target.identifier, connection: target.connection)
        let (identifier, isSignedIn) = (target.identifier, target.isSignedIn)
        try await self.untilSignalled {
            if self.forget { return try await Forgetting(container: container, wanted: wanted).run() }
            let purpose = Listener.Purpose(
                printsJSON: self.json,
                command: self.exec.map { NotificationCommand(line: $0) },
                endsOnFailure: self.stopOnFailure,
                state: self.fetch
                    ? try StateFile(path: self.statePath(identifier), container: identifier)
                    : nil,
                beginsNow: self.fromNow
            )
            if isSignedIn { return try await Listener(container, wanted, purpose).run() }
            try await PublicFollower(container, wanted, purpose, interval: .seconds(self.interval)).run()
        }
    }

    /// Runs the body until it ends, or until a signal ends the process.
    private func untilSignalled(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                do {
                    try await body()
                } catch is CancellationError {
                } catch let error as CKError {
                    throw ListenFailure(error)
                }
            }
            group.addTask { for await _ in signals { return } }
            try await group.next()
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    private func statePath(_ container: String) -> String {
        if let state { return state }
        let folder = UserFolder.state.path(variables: ProcessInfo.processInfo.environment)
        return "\(folder)/tidemark/tidemark-listen/\(container).json"
    }
}
