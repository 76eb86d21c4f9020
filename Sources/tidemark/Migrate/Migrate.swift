import Administration
import ArgumentParser
import Foundation

struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Move a store from a data folder into PostgreSQL, or back.",
        discussion: """
            No server may run. Every row is copied and then compared, and only then \
            may the copy be served. Clients notice: their change tokens have expired, \
            so they fetch everything again, as after a restore.

            Assets and certificates stay in the data folder, which is the server's \
            before and after. A move back may also make a new folder; copy assets and \
            tls into it.

            An interrupted move continues when the command is run again. Until it is \
            complete, no server serves the folder. What has moved is kept: the file as \
            tidemark.sqlite.moved, the tables in a schema that is called \
            tidemark_moved_TIME. Remove it when all is well.

            The database has to be empty. Exits with 65 if it is not, or if a copied \
            row differs; with 69 while a server runs.

              tidemark migrate --from data --to postgresql://db/notes --dry-run
              tidemark migrate --from data --to postgresql://db/notes
              tidemark migrate --from postgresql://db/notes --to data
            """
    )

    @Option(
        help: ArgumentHelp("The store: a data folder, or the URL of a database.", valueName: "dir-or-url")
    )
    var from: String

    @Option(help: ArgumentHelp("Its new place: a URL, or a data folder.", valueName: "dir-or-url"))
    var to: String

    @Flag(help: "Check everything, count the rows, and change nothing.")
    var dryRun = false

    @Flag(help: "Throw away what an interrupted move has copied, and begin again.")
    var restart = false

    @Flag(help: "Print a JSON object.")
    var json = false

    func run() async throws {
        var run: MigrateRun
        switch (Self.isURL(self.from), Self.isURL(self.to)) {
        case (false, true): run = MigrateRun(folder: DataFolder(path: self.from), url: self.to, .toPostgreSQL)
        case (true, false): run = MigrateRun(folder: DataFolder(path: self.to), url: self.from, .toFolder)
        case (true, true), (false, false):
            throw CommandFailure(
                .usage,
                "a store moves between a folder and a database: one of --from and --to is a folder, and the other one a URL "
                    + "that begins with postgresql://."
            )
        }
        run.isDryRun = self.dryRun
        run.restarts = self.restart
        let report = try run.run()
        Terminal.write(try self.json ? JSONText.of(report) : report.text(isDryRun: self.dryRun))
    }

    private static func isURL(_ text: String) -> Bool {
        text.hasPrefix("postgresql://") || text.hasPrefix("postgres://")
    }
}
