import Administration
import RecordStore

/// The store of a data folder, opened for one command.
///
/// A server may serve the folder at the same time.
enum AdministeredStore {
    /// Opens the store, runs the body, and closes the store, also if the body fails.
    ///
    /// Never makes a store, or changes its format. `settings` are as in `EngineOpening`.
    ///
    /// - Throws: `noStore` if the folder has no store, and what the body throws.
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
