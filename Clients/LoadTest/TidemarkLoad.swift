import ArgumentParser
import Foundation
import RecordModel

/// Puts a load on a server, and reports how it coped.
@main
struct TidemarkLoad: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidemark-load",
        abstract: "Put load on a Tidemark server, measure latencies, and verify that nothing was lost.",
        discussion: """
              tidemark-load save --connections 64
              tidemark-load fetch --rate 5000 --distribution zipfian
              tidemark-load mix --weights ./weights --verify --json out.json
              tidemark-load mix --verify --chaos 'systemctl kill -s KILL tidemark'
              tidemark-load mix --rate 500 --fail-if 'p99>20ms' --fail-if 'failed>0'
              tidemark-load save --ramp --rate 500 --p99 20
              tidemark-load save --overload --rate 8000
              tidemark-load --tenants --tokens ./tokens --jain-min 0.95
              tidemark-load bench --prepare items --connections 16
              tidemark-load bench single-save --connections 64 --json row.json

            All workloads and their options: tidemark-load run --help. Many tenants of
            different greed in one run: tidemark-load tenants --help.

            Use a container for tests: zones are made in each user's private database.
            The table goes to standard output, all else to standard error.

            Exit codes: 0 done, 1 a bound was crossed (--fail-if, --jain-min), 64 wrong
            usage, 65 a record was lost, duplicated or stale (--verify), 69 the server is
            not available, 70 requests failed, or the server or a command refused, 73 a
            file cannot be written, 130 interrupted. Failed requests are expected, and no
            error, with --chaos, --retry, --overload and --ramp. Ctrl-C ends the load and
            prints the measurements; a second one ends at once.
            """,
        version: Release.version,
        subcommands: [RunCommand.self, TenantsCommand.self, BenchCommand.self],
        defaultSubcommand: RunCommand.self
    )

    /// Printed for the command without arguments.
    private static let hint = """
        tidemark-load puts load on a Tidemark server, and reports how it coped.

          tidemark-load WORKLOAD [options]      one of save, save-batch, delete, fetch,
                                                query, changes, push, assets, sync, mix
          tidemark-load --tenants [options]     100 tenants of very different greed
          tidemark-load bench ROW [options]     a row of the comparison with other stores
          tidemark-load --help                  examples; run --help has all options

        TIDEMARK_URL, TIDEMARK_CA, TIDEMARK_CONTAINER and TIDEMARK_TOKEN name the server.

        """

    /// The arguments of the command line; `--tenants` in place of a workload becomes the command of
    /// that name.
    private static var arguments: [String] {
        let given = Array(CommandLine.arguments.dropFirst())
        return given.first == "--tenants" ? ["tenants"] + given.dropFirst() : given
    }

    static func main() async {
        guard CommandLine.arguments.count > 1 else {
            try? FileHandle.standardError.write(contentsOf: Data(self.hint.utf8))
            Foundation.exit(LoadFailure.Code.usage.rawValue)
        }
        do {
            var command = try self.parseAsRoot(self.arguments)
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let failure as LoadFailure {
            LiveLine().say("tidemark-load: \(failure.message)")
            Foundation.exit(failure.code.rawValue)
        } catch {
            self.exit(withError: error)
        }
    }
}
