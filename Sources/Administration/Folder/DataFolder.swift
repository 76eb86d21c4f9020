import Foundation

/// The folder in which a server stores everything.
///
/// ```text
/// DIR/              0700
///     lock          locked by the server that serves this folder; its process number
///     reserve       room for deletes and administration on a full disk: see DiskReserve
///     tls/          see ServerCertificates
///     assets/       see AssetStore; several servers of a database share it: see SharedAssets
///     telemetry.ring       figures of the last day: see TelemetryFile
///     backups.json         what was backed up where: see BackupNotes
///     served.json          settings for commands beside the server: see ServedSettings
///     console.log   what was changed from pages of the console: see ConsoleAudit
///     …             the engine's files
///     postgresql.json      instead of them, if the store is in PostgreSQL: see StoreAddress
///     restore.unfinished   during a restore, and after one that was interrupted
///     move.unfinished      the same of a move to another engine: see MoveMark
/// ```
package struct DataFolder: Hashable, Sendable {
    /// Absolute, because printed paths are used from other folders.
    package let path: String

    package init(path: String) {
        self.path = URL(fileURLWithPath: path).standardizedFileURL.path
    }

    package var assetsPath: String { self.path + "/assets" }

    package var consoleLogPath: String { self.path + "/console.log" }

    /// Exists until a restore is complete.
    package var unfinishedRestorePath: String { self.path + "/restore.unfinished" }
}
