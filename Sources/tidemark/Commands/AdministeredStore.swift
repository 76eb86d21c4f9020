import RecordStore

/// The store of a data folder, opened for one command.
///
/// A server may serve the folder at the same time.
enum AdministeredStore {
    /// Opens the store, runs the body, and closes the store, also if the body fails.
    ///
    /// - Throws: The directory's error, as `explain` translates it; `noStore` if the folder has no
    ///   store.
    static func use<Result>(
        _ folder: DataFolder,
        _ body: (Directory) throws -> Result,
        explain: (DirectoryError) -> CommandFailure
    ) async throws -> Result {
        try await self.open(folder) { store in
            do {
                return try body(store.directory)
            } catch let error as DirectoryError {
                throw explain(error)
            }
        }
    }

    /// The same, for schemas and roles.
    static func useSchemas<Result>(
        _ folder: DataFolder,
        _ body: (SchemaStore) throws -> Result,
        explain: (SchemaStoreError) -> CommandFailure
    ) async throws -> Result {
        try await self.open(folder) { store in
            do {
                return try body(store.schemas)
            } catch let error as SchemaStoreError {
                throw explain(error)
            }
        }
    }

    /// Opens the store for a command that needs all of it.
    ///
    /// Never makes a store, or changes its format. `settings` are as in `EngineOpening`.
    static func open<Result>(
        _ folder: DataFolder,
        settings: Settings? = nil,
        _ body: (Store) async throws -> Result
    ) async throws -> Result {
        let store = try await EngineOpening.open(folder, settings: settings)
        do {
            let result = try await body(store)
            await store.shutdown()
            return result
        } catch {
            await store.shutdown()
            throw error
        }
    }
}
