import Administration
import ArgumentParser
import Foundation
import RecordStore

/// The options that a command line leaves out, from the environment or the data folder.
///
/// `--container` is TIDEMARK_CONTAINER, and without that the only container of the folder. `--as` is
/// TIDEMARK_AS. Without that it is the only user of the container, to read a database that belongs to a
/// user. A command that writes has a modifier, and takes only a user who was named.
struct DefaultOptions {
    static let containerVariable = "TIDEMARK_CONTAINER"
    static let userVariable = "TIDEMARK_AS"
    /// Names that an error lists.
    private static let listedMax = 10

    let words: CommandWords
    var environment = ProcessInfo.processInfo.environment

    /// A whole command line, with the options that its command takes and does not have.
    ///
    /// - Throws: `usage` if the folder has no container or user, or several; what opening it throws.
    static func added(to arguments: [String]) async throws -> [String] {
        let (command, depth) = try CommandNames.check(arguments, of: Tidemark.self)
        let operands = arguments.prefix { $0 != "--" }
        let isForHelp = operands.contains { ["-h", "--help", "--version"].contains($0) }
        // Usage is for all containers, unless one is named.
        guard !isForHelp, command != Usage.self else { return arguments }
        let options = DefaultOptions(words: CommandWords(words: Array(operands)))
        let added = try await options.added(in: Self.help(of: command))
        return arguments[..<depth] + added + arguments[depth...]
    }

    /// The lines of a command's help, which has a line for each of its options.
    private static func help(of command: any ParsableCommand.Type) -> [Substring] {
        command.helpMessage(columns: 200).split(separator: "\n").map { $0.drop { $0 == " " } }
    }

    private func added(in help: [Substring]) async throws -> [String] {
        func isMissing(_ option: String) -> Bool {
            help.contains { $0.hasPrefix(option + " ") } && !self.words.has(option)
        }
        var added: [String] = []
        var needsContainer = isMissing("--container")
        var needsUser = isMissing("--as")
        if needsContainer, let container = self.value(of: Self.containerVariable) {
            added += ["--container", container]
            needsContainer = false
        }
        if needsUser, let user = self.value(of: Self.userVariable) {
            added += ["--as", user]
            needsUser = false
        }
        // A command with --database acts in the database of a user; one that writes takes --set.
        needsUser =
            needsUser && help.contains { $0.hasPrefix("--database ") }
            && !help.contains { $0.hasPrefix("--set ") }
            && self.words.value(of: "--database") != "public"
        guard needsContainer || needsUser else { return added }
        return try await added + self.stored(needsContainer: needsContainer, needsUser: needsUser)
    }

    private func stored(needsContainer: Bool, needsUser: Bool) async throws -> [String] {
        let folder = DataFolder.ofCommand(self.words.value(of: "--data"))
        do {
            return try await AdministeredStore.open(folder) { store in
                let container = try self.container(in: store)
                let named = needsContainer ? ["--container", container] : []
                return try needsUser ? named + ["--as", self.user(of: container, in: store)] : named
            }
        } catch let failure as CommandFailure where needsContainer && failure.code == .noStore {
            throw CommandFailure(.usage, "no --container is given, and \(failure.message)")
        }
    }

    // MARK: Names

    /// The container of a command line.
    ///
    /// - Throws: `usage` if none is named, and the folder has not exactly one; `AdministrationError`.
    func container(in store: Store) throws -> String {
        if let named = self.words.value(of: "--container") ?? self.value(of: Self.containerVariable) {
            return named
        }
        let containers = try AdministeredContainer.identifiers(in: store)
        if containers.count == 1 { return containers[0] }
        guard !containers.isEmpty else {
            throw CommandFailure(
                .usage,
                "the data folder has no container yet. Create one: tidemark container create ID"
            )
        }
        throw CommandFailure(
            .usage,
            "the data folder has \(containers.count) containers: \(Self.list(containers)). "
                + "Name one with --container, or in \(Self.containerVariable)."
        )
    }

    /// The user of a command line that is about a database of theirs.
    ///
    /// - Throws: `usage` if none is named, and the container has not exactly one; `AdministrationError`.
    func user(of container: String, in store: Store) throws -> String {
        if let named = self.words.value(of: "--as") ?? self.value(of: Self.userVariable) { return named }
        let users = try AdministeredContainer(container, in: store).users().filter { !$0.isService }.map(
            \.name
        )
        if users.count == 1 { return users[0] }
        let database = self.words.value(of: "--database") ?? "private"
        guard !users.isEmpty else {
            throw CommandFailure(
                .usage,
                "a \(database) database belongs to a user, and \(container) has none yet. "
                    + "Add one: tidemark user add NAME --container \(container)"
            )
        }
        throw CommandFailure(
            .usage,
            "a \(database) database belongs to a user, and \(container) has \(users.count) users: \(Self.list(users)). "
                + "Name one with --as, or in \(Self.userVariable); or say --database public."
        )
    }

    private static func list(_ names: [String]) -> String {
        names.prefix(self.listedMax).joined(separator: ", ") + (names.count > self.listedMax ? ", …" : "")
    }

    /// A variable that is empty counts as absent.
    private func value(of variable: String) -> String? {
        self.environment[variable].flatMap { $0.isEmpty ? nil : $0 }
    }
}

extension ArgumentHelp {
    static let container = ArgumentHelp(
        "The container.",
        discussion:
            "Without it \(DefaultOptions.containerVariable), without that the only one of the folder.",
        valueName: "id"
    )
}
