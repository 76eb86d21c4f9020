import Administration
import ArgumentParser
import RecordModel
import RecordServer
import RecordStore
import StorageContract

/// The command `tidemark usage`.
struct Usage: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "usage",
        abstract: "Show how many records, assets and bytes are stored, with one row per database.",
        discussion: """
            Works while the server runs. Bytes count records' bodies, assets (each once per database) and \
            rows: the overhead of records, indexes, zones, tombstones and stored results of requests. Together \
            they are about the size of the folder on the disk. Quotas are the settings user_bytes_max and \
            container_bytes_max of the server that serves the folder, or served it last, unless a file, the \
            environment or a flag says otherwise. A user's quota counts both of their private databases.

              tidemark usage
              tidemark usage --container iCloud.org.example.app --json
              tidemark usage --config /etc/tidemark.json
            """
    )

    @Option(
        help: ArgumentHelp("One container instead of all.", valueName: "id"),
        completion: Completions.containers
    )
    var container: String?

    @OptionGroup var data: DataOption

    @OptionGroup var settings: SettingsOptions

    @Flag(help: "Print a JSON array of containers, each with its databases, users and quotas.")
    var json = false

    func run() async throws {
        let quotas = try await self.settings.read(beside: self.data.folder).server.storage.quotas
        let usages = try await AdministeredStore.open(self.data.folder) { store in
            let containers = try self.container.map { [$0] } ?? AdministeredContainer.identifiers(in: store)
            return try containers.map { ($0, try AdministeredContainer($0, in: store).usage()) }
        }
        if self.json {
            Terminal.write(try JSONText.of(usages.map { ContainerRow($0, $1, quotas) }))
        } else {
            Terminal.write(
                Terminal.table(
                    header: [
                        "CONTAINER", "DATABASE", "RECORDS", "RECORD BYTES", "ASSETS", "ASSET BYTES",
                        "ROW BYTES", "BYTES", "OF QUOTA",
                    ],
                    rows: usages.flatMap { Self.lines($0, $1, quotas) }
                )
            )
        }
    }

    /// A row for each database, and one for the container.
    private static func lines(
        _ container: String,
        _ usage: ContainerUsage,
        _ quotas: StorageQuotas
    ) -> [[String]] {
        func line(_ name: String, _ amount: StoredAmount, _ bytes: Int64, of quota: Int64) -> [String] {
            let counts = [
                amount.records, amount.recordBytes, amount.assets, amount.assetBytes, amount.rowBytes,
                amount.bytes,
            ]
            return [container, name] + counts.map { "\($0)" } + [quota == 0 ? "-" : "\(bytes) of \(quota)"]
        }
        let databases = usage.databases.map { database in
            guard let user = database.user else {
                return line("public \(database.environment)", database.amount, 0, of: 0)
            }
            return line(
                "\(user) \(database.environment)",
                database.amount,
                usage.total(ofUser: user).bytes,
                of: quotas.userBytes
            )
        }
        return databases + [line("all", usage.total, usage.total.bytes, of: quotas.containerBytes)]
    }

    private struct AmountRow: Encodable {
        let records: Int64
        let recordBytes: Int64
        let assets: Int64
        let assetBytes: Int64
        let rowBytes: Int64
        let bytes: Int64

        init(_ amount: StoredAmount) {
            self.records = amount.records
            self.recordBytes = amount.recordBytes
            self.assets = amount.assets
            self.assetBytes = amount.assetBytes
            self.rowBytes = amount.rowBytes
            self.bytes = amount.bytes
        }
    }

    private struct ContainerRow: Encodable {
        struct Database: Encodable {
            let environment: String
            /// Absent for the public database.
            let user: String?
            let stored: AmountRow
        }

        struct User: Encodable {
            let name: String
            let bytes: Int64
            let quota: Int64?
        }

        let container: String
        let stored: AmountRow
        /// Absent if there is no quota.
        let quota: Int64?
        let databases: [Database]
        let users: [User]

        init(_ container: String, _ usage: ContainerUsage, _ quotas: StorageQuotas) {
            self.container = container
            self.stored = AmountRow(usage.total)
            self.quota = quotas.containerBytes == 0 ? nil : quotas.containerBytes
            self.databases = usage.databases.map {
                Database(environment: "\($0.environment)", user: $0.user, stored: AmountRow($0.amount))
            }
            self.users = Set(usage.databases.compactMap(\.user)).sorted().map { name in
                User(
                    name: name,
                    bytes: usage.total(ofUser: name).bytes,
                    quota: quotas.userBytes == 0 ? nil : quotas.userBytes
                )
            }
        }
    }
}
