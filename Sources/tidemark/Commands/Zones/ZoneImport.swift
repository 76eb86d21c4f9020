import Administration
import ArgumentParser
import Foundation
import RecordModel
import RecordStore
import StorageContract
import ZoneBundles

struct ZoneImport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Make the zones of a bundle, with records, shares, schema and files.",
        discussion: """
            Reads the whole bundle first, so one that was cut or changed imports \
            nothing. Zones have to be absent or empty here, or to have a part of the same \
            bundle: an import that was interrupted continues when it is run again. Names, \
            dates and authors of records stay, and so do the participants of shares who \
            are users here; others are invited again. Records take new positions, so \
            devices fetch the zones anew.

              tidemark zone import notes.tidemark --container iCloud.org.example.app \\
                  --as alice --dry-run
              gunzip < alice.tidemark.gz | tidemark zone import \\
                  --container iCloud.org.example.app --as alice --data /srv/other
              tidemark zone import public.tidemark --container iCloud.org.example.app \\
                  --database public --as importer

            The owner of the bundle becomes the user. Other users are those with the same \
            user record name, unless --map-user says who they are here. Those who are no \
            users here stay names.
            """
    )

    @OptionGroup var options: BundleOptions

    @Argument(
        help: ArgumentHelp("A bundle; standard input if '-' or missing.", valueName: "file"),
        completion: .file()
    )
    var file: String?

    @Option(help: ArgumentHelp("Only this zone of the bundle. Repeatable.", valueName: "name"))
    var zone: [String] = []

    @Option(help: ArgumentHelp("Another name for the one zone that is imported.", valueName: "name"))
    var to: String?

    @Option(
        help: ArgumentHelp(
            "A user record name of the bundle, and the user's name here. Repeatable.",
            valueName: "name=user"
        )
    )
    var mapUser: [String] = []

    @Flag(help: "Say what would be made, and write nothing.")
    var dryRun = false

    @Flag(help: "Print a JSON object with the numbers.")
    var json = false

    @OptionGroup var settings: SettingsOptions

    func validate() throws {
        guard self.options.user == nil else { return }
        throw ValidationError(
            self.options.isPublic
                ? "an import into the public database needs a user or a service: name one with --as."
                : "a private database belongs to a user: name them with --as, or say --database public."
        )
    }

    func run() async throws {
        let settings = try await self.settings.read(beside: self.options.data.folder)
        try self.options.data.folder.refuseUnlessServable()
        guard self.options.data.folder.hasStore else { throw self.options.data.folder.hasNoStore }
        let lock = try self.dryRun ? nil : ImportLock(self.options.data.folder)
        defer { withExtendedLifetime(lock) {} }
        let file = try InputFile(
            path: self.file,
            folder: self.options.data.folder.path,
            reserveBytes: settings.diskReserveBytes
        )
        let bar = TerminalProgress()
        let bundle = try VerifiedBundle(file) { bar.show($0, of: $1) }
        try self.checkDatabase(of: bundle.description)
        let zones = try self.zones(of: bundle.description)
        let report = try await self.options.open(
            settings: settings,
            createsDatabases: !self.dryRun,
            isDryRun: self.dryRun
        ) { database in
            let mapping = BundleMapping(
                users: try self.users(of: bundle.description, database),
                zones: zones
            )
            var run = ZoneImportRun(
                database: database,
                bundle: bundle,
                mapping: mapping,
                container: self.options.container,
                environment: self.options.environment.environment
            )
            do {
                try await run.prepare()
                if !self.dryRun {
                    defer { bar.clear() }
                    try await run.write()
                }
            } catch let error as StoreError {
                throw RecordAdvice.failure(error, doing: "the bundle cannot be imported")
            }
            return run.report
        }
        Terminal.write(try self.json ? JSONText.of(report) : report.text(isDryRun: self.dryRun))
    }

    private func checkDatabase(of description: BundleDescription) throws(CommandFailure) {
        guard description.isPublic != self.options.isPublic else { return }
        let database = description.isPublic ? "public" : "private"
        throw CommandFailure(
            .data,
            "the bundle is of a \(database) database: say --database \(database). Nothing was imported."
        )
    }

    /// The zones to import, with their names here.
    private func zones(of description: BundleDescription) throws(CommandFailure) -> [String: String] {
        let known = description.zones.map(\.name)
        if let missing = self.zone.first(where: { !known.contains($0) }) {
            throw CommandFailure(
                .data,
                "the bundle has no zone '\(missing)'. It has: \(known.prefix(20).joined(separator: ", "))."
            )
        }
        let chosen = self.zone.isEmpty ? known : self.zone
        var zones = Dictionary(chosen.map { ($0, $0) }) { first, _ in first }
        if let to {
            guard let only = zones.keys.first, zones.count == 1 else {
                throw CommandFailure(.usage, "--to names one zone: say which of the bundle with --zone.")
            }
            zones[only] = to
        }
        return zones
    }

    /// Users of the bundle, with those here.
    private func users(
        of description: BundleDescription,
        _ database: AdministeredDatabase
    ) throws -> [String: String] {
        let container = AdministeredContainer(self.options.container, in: database.store)
        var users: [String: String] = [:]
        if !description.isPublic { users[description.owner] = database.requester.userRecordName }
        for text in self.mapUser {
            guard let mark = text.firstIndex(of: "=") else {
                throw CommandFailure(.usage, "--map-user is '\(text)': say NAME=USER.")
            }
            let name = String(text[text.index(after: mark)...])
            let account = try container.signIn(as: name, self.options.environment.environment)
            users[String(text[..<mark])] = account.userRecordName
        }
        return users
    }
}

extension ImportReport {
    func text(isDryRun: Bool) -> String {
        var text = isDryRun ? "Would be imported:" : "Imported:"
        text += " zones \(self.zones.count), records \(self.records), of them shares \(self.shares)"
        text += ", assets \(self.assets)"
        if !self.schemaAdded.isEmpty { text += ", types and fields added \(self.schemaAdded.count)" }
        text += ".\n"
        if self.alreadyThere > 0 {
            text +=
                "\(self.alreadyThere) of the records were here already, from an earlier import of this bundle.\n"
        }
        if self.unknownUsers > 0 {
            text +=
                "\(self.unknownUsers) \(self.unknownUsers == 1 ? "user" : "users") of the bundle "
                + "\(self.unknownUsers == 1 ? "is none" : "are none") here, and "
                + "\(self.unknownUsers == 1 ? "stays a name" : "stay names"): see --map-user.\n"
        }
        return text
    }
}
