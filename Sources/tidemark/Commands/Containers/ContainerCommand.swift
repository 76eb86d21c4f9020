import Administration
import ArgumentParser
import Foundation
import RecordStore

/// The command `tidemark container`.
struct ContainerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "container",
        abstract: "Create, list and delete containers: the data of one application each.",
        subcommands: [
            ContainerCreate.self, ContainerList.self, ContainerHistory.self, ContainerDelete.self,
        ]
    )
}

struct ContainerCreate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create a container, with a development and a production environment.",
        discussion: """
            Works while the server runs.

              tidemark container create iCloud.org.example.app --data /var/lib/tidemark
            """
    )

    @Argument(help: "A letter, then letters, digits, '.', '-' and '_'; at most 255 bytes.")
    var identifier: String

    @OptionGroup var data: DataOption
    @OptionGroup var result: ResultOption

    func run() async throws {
        try await AdministeredStore.open(self.data.folder) { store in
            try AdministeredContainer(self.identifier, in: store).create()
        }
        try self.result.write(["container": self.identifier]) {
            Terminal.write("Created the container \(self.identifier).\n")
        }
    }
}

struct ContainerList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List all containers, one per line."
    )

    @OptionGroup var data: DataOption

    @Flag(help: "Print a JSON array.")
    var json = false

    func run() async throws {
        let identifiers = try await AdministeredStore.open(self.data.folder) { store in
            try AdministeredContainer.identifiers(in: store)
        }
        if self.json {
            Terminal.write(try JSONText.of(identifiers))
        } else {
            Terminal.write(identifiers.map { $0 + "\n" }.joined())
        }
    }
}

struct ContainerDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete a container for good: both environments, all users, all data.",
        discussion: """
            Works while the server runs: connections end within a second, and the \
            next sweep deletes files of assets, within a minute. If the command is \
            interrupted, run it again. What is deleted is overwritten, and in no \
            backup that is made later. Earlier backups have it still: the command \
            names them.

              tidemark container delete iCloud.org.example.app
            """
    )

    @Argument(help: "The container.")
    var identifier: String

    @OptionGroup var data: DataOption
    @OptionGroup var deletion: DeletionArguments
    @OptionGroup var result: ResultOption

    func run() async throws {
        let extent = try await self.deletion.delete(
            .container(self.identifier),
            named: self.identifier,
            in: self.data.folder
        )
        let backups = EarlierBackups(of: self.data.folder)
        try self.result.write(DeletionResult(of: self.identifier, extent, backups)) {
            Terminal.write("Deleted \(self.identifier): \(extent.text).\n\(backups.text)")
        }
    }
}
