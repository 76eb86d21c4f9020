internal import CloudKit
internal import Foundation
internal import GRDB

/// Looks for changes that other connections and programs have written.
struct LocalChanges {
    let sync: MirrorSync

    private static let interval = Duration.milliseconds(100)

    private struct Versions: Equatable, Sendable {
        var data: Int
        var schema: Int
    }

    /// Looks until the task is cancelled, and sends again where that helps.
    func run() async {
        var last = Versions(data: -1, schema: -1)
        var isFirst = true
        while !Task.isCancelled, self.sync.stopped == nil {
            let found = try? await self.sync.file.watch.read { database in
                Versions(
                    data: try Int.fetchOne(database, sql: "PRAGMA data_version") ?? 0,
                    schema: try Int.fetchOne(database, sql: "PRAGMA schema_version") ?? 0
                )
            }
            if let found, found != last {
                if found.schema != last.schema, !isFirst { await self.checkTables() }
                isFirst = false
                last = found
                await self.sync.notice()
            }
            // An error is the engine's to retry.
            if self.sync.takeWish() { try? await self.sync.engine?.sendChanges() }
            guard (try? await Task.sleep(for: Self.interval)) != nil else { return }
        }
    }

    /// Stops the mirror if a table was altered: no change would be seen any more.
    private func checkTables() async {
        do {
            try await self.sync.checkTables()
        } catch let error as MirrorError {
            self.sync.stop(error)
        } catch {
            // The next write finds out.
        }
    }
}

extension MirrorSync {
    private struct Waiting: Sendable {
        var isAny: Bool
        var isOfThisTransaction: Bool
    }

    /// Lets the engine send if changes wait; what is written from now on is another transaction.
    func notice() async {
        let waiting = try? await self.file.pool.read { database in
            let row = try Row.fetchOne(
                database,
                sql: """
                    SELECT
                        EXISTS (SELECT 1 FROM tidemark_pending WHERE error_code IS NULL) AS is_any,
                        EXISTS (SELECT 1 FROM tidemark_pending WHERE error_code IS NULL
                            AND last_transaction = (SELECT transaction_number FROM tidemark_state)) AS is_now
                    """
            )
            return Waiting(isAny: row?["is_any"] ?? false, isOfThisTransaction: row?["is_now"] ?? false)
        }
        guard let waiting, waiting.isAny else { return }
        if waiting.isOfThisTransaction { await self.write { try $0.beginTransaction() } }
        self.engine?.state.hasPendingUntrackedChanges = true
    }
}
