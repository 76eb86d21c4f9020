import RecordStore
import SQLiteEngine

/// The directory of a data folder, for one command; a server may be serving the folder at the same time.
enum AdministeredStore {
    /// Opens the store, runs the body, and closes the store again, also when the body fails.
    ///
    /// - Throws: What `explain` makes of the directory's error; `data` when the folder holds no store.
    static func use<Result>(
        _ folder: DataFolder,
        makeFolder: Bool = false,
        _ body: (any Directory) throws -> Result,
        explain: (DirectoryError) -> CommandFailure
    ) async throws -> Result {
        if makeFolder {
            try folder.make()
        } else if !folder.exists {
            throw CommandFailure(
                .data,
                "there is no data folder \(folder.path). Name it with --data, or start a server: "
                    + "tidemark serve --data \(folder.path)"
            )
        }
        let engine = try EngineOpening.open(folder)
        do {
            let result = try body(engine.directory)
            await engine.shutdown()
            return result
        } catch {
            await engine.shutdown()
            guard let error = error as? DirectoryError else { throw error }
            throw explain(error)
        }
    }
}
