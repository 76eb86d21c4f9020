import ArgumentParser
import CloudKit
import UnixSignals

/// Prints what a server tells about, runs commands for it, and fetches what changed.
@main
struct TidemarkListen: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidemark-listen",
        abstract: "Prints a line for each notification of a Tidemark server, as it comes.",
        discussion: """
            Notifications come for every subscription of the user, whoever saved it.
            What is asked for here is saved first, under an ID of its own; where the
            same is there under another ID, that one is used.

              tidemark-listen --zone notes
              tidemark-listen --database --json
              tidemark-listen --query Note "pages > 10" --zone notes
              tidemark-listen --database --fetch --state ./state.json
              tidemark-listen --zone jobs --exec 'jq -r .zone | xargs ./work'

            Notifications and changes go to standard output, all else to standard
            error. Connections are made again for ever. What happened while nobody
            listened is told as word that there is news.

            Exit codes: 0 stopped by SIGTERM or SIGINT, 64 wrong usage or settings,
            65 the server refuses what was asked for, 73 the state file cannot be
            used, 74 nobody reads the output.
            """
    )

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    @OptionGroup(title: "Subscriptions")
    var subscriptions: SubscriptionOptions

    @Flag(help: "Print one JSON object a line.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "Run a shell command for each notification, with the notification as JSON on its standard input.",
            discussion: """
                One at a time, in order. A notification counts as taken care of when its command has ended; \
                a failure is reported, and the next one follows.
                """,
            valueName: "command"
        )
    )
    var exec: String?

    @Flag(help: "Fetch and print what changed, at the start and after each notification.")
    var fetch = false

    @Option(
        help: ArgumentHelp(
            "With --fetch: where to keep how far changes were fetched.",
            discussion: "Without it: tidemark/tidemark-listen/CONTAINER.json in the user's folder for state.",
            valueName: "file"
        )
    )
    var state: String?

    @Flag(help: "With --fetch: where nothing is kept yet, begin with what changes from now on.")
    var fromNow = false

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
            throw ValidationError("--state and --from-now say how to --fetch.")
        }
    }

    func run() async throws {
        let target = try self.connection.target()
        let file =
            try self.fetch ? TokenFile(path: self.statePath(target), container: target.identifier) : nil
        let listener = Listener(
            container: CKContainer(identifier: target.identifier, connection: target.connection),
            wanted: try self.subscriptions.wanted(),
            printsJSON: self.json,
            command: self.exec.map { NotificationCommand(line: $0) },
            tokens: file,
            beginsNow: self.fromNow
        )
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                do {
                    try await listener.run()
                } catch is CancellationError {
                } catch let error as CKError {
                    throw ListenFailure(.refused, error.localizedDescription)
                }
            }
            group.addTask { for await _ in signals { return } }
            try await group.next()
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    private func statePath(_ target: ConnectionOptions.Target) -> String {
        if let state { return state }
        let variables = ProcessInfo.processInfo.environment
        let folder =
            if let given = variables["XDG_STATE_HOME"], given.hasPrefix("/") { given } else {
                NSHomeDirectory() + "/.local/state"
            }
        return "\(folder)/tidemark/tidemark-listen/\(target.identifier).json"
    }
}
