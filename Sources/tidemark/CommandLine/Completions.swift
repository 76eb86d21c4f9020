import Administration
import ArgumentParser
import RecordModel
import RecordStore
import StorageContract

/// Names from the data folder, for the completion of a command line in a shell.
///
/// A folder that cannot be read completes to nothing, and so does a command line without a container
/// where there are several.
enum Completions {
    private static let namesMax = 1_000

    static let containers = CompletionKind.custom { words, _, prefix in
        await Completions.names(words, prefix) { store, _ in try store.directory.containers() }
    }

    static let users = CompletionKind.custom { words, _, prefix in
        await Completions.names(words, prefix) { store, words in
            try store.directory.users(ofContainer: words.container(in: store)).map(\.name)
        }
    }

    static let types = CompletionKind.custom { words, _, prefix in
        await Completions.names(words, prefix) { store, words in
            try store.schemas.schema(ofContainer: words.container(in: store), environment: words.environment)
                .recordTypes.map(\.name)
        }
    }

    static let zones = CompletionKind.custom { words, _, prefix in
        await Completions.names(words, prefix) { store, words in try await words.zones(in: store) }
    }

    private static func names(
        _ words: [String],
        _ prefix: String,
        _ list: (Store, CommandWords) async throws -> [String]
    ) async -> [String] {
        let words = CommandWords(words: words)
        let folder = DataFolder.ofCommand(words.value(of: "--data"))
        guard let store = EngineOpening.openForCompletion(folder) else { return [] }
        let names = (try? await list(store, words)) ?? []
        await store.shutdown()
        return Array(names.lazy.filter { $0.hasPrefix(prefix) }.prefix(self.namesMax))
    }
}

/// The words of a command line that is not complete.
struct CommandWords {
    let words: [String]

    /// The value of an option, in one word or two.
    func value(of option: String) -> String? {
        for (index, word) in self.words.enumerated() {
            if word.hasPrefix(option + "=") { return String(word.dropFirst(option.count + 1)) }
            if word == option, index + 1 < self.words.count, !self.words[index + 1].isEmpty {
                return self.words[index + 1]
            }
        }
        return nil
    }

    func has(_ option: String) -> Bool {
        self.words.contains { $0 == option || $0.hasPrefix(option + "=") }
    }

    func container(in store: Store) throws -> String {
        try DefaultOptions(words: self).container(in: store)
    }

    var environment: Environment {
        EnvironmentName(rawValue: self.value(of: "--environment") ?? "")?.environment ?? .development
    }

    /// The zones of the private database of the user, or of their shared one.
    func zones(in store: Store) async throws -> [String] {
        let container = try self.container(in: store)
        let signIn = try store.directory.account(
            named: DefaultOptions(words: self).user(of: container, in: store),
            ofContainer: container,
            environment: self.environment
        )
        let isShared = self.value(of: "--database") == "shared"
        guard let database = isShared ? signIn.sharedDatabase : signIn.privateDatabase else { return [] }
        let requester = Requester(
            database: database,
            scope: isShared ? .shared : .private,
            environment: signIn.environment,
            userRecordName: signIn.userRecordName
        )
        let outcomes = await withCheckedContinuation { continuation in
            store.fetchZones(.all, for: requester) { continuation.resume(returning: $0) }
        }
        return try outcomes.get().compactMap {
            if case .zone(let zone) = $0 { zone.id.zoneName } else { nil }
        }
    }
}
