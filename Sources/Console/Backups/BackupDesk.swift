/// Backups of the data folder: the known ones, and how another is made.
package struct BackupDesk: Sendable {
    /// Progress of a backup: bytes that were copied, and those of all.
    package typealias Progress = @Sendable (_ done: Int64, _ total: Int64) -> Void

    /// Looks for backups; it may block.
    package var list: @Sendable () -> KnownBackups
    /// Makes a backup in a folder that is new or empty; blocks until it is complete.
    ///
    /// `isStopping` is asked between two steps: whether to give up, and to remove what was copied.
    package var make: Making

    package typealias Making =
        @Sendable (
            _ path: String,
            _ isStopping: @escaping @Sendable () -> Bool,
            _ progress: @escaping Progress
        ) -> BackupEnd

    package init(list: @escaping @Sendable () -> KnownBackups, make: @escaping Making) {
        self.list = list
        self.make = make
    }
}

/// The outcome of a backup.
package enum BackupEnd: Hashable, Sendable {
    case made(bytes: Int64, assets: Int)
    /// A sentence that says why, and what to do.
    case failed(String)
}

/// The known backups of a folder.
package struct KnownBackups: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case folder
        /// One that a process continues.
        case continued
        /// It went through a pipe, to a destination that the console does not know.
        case stream
    }

    package enum State: Hashable, Sendable {
        case complete
        /// Files of assets were missing or damaged when it was made.
        case lacking(assets: Int)
        case incomplete
        /// The folder is gone, or on a disk that is not there now.
        case missing
        /// A sentence that says why.
        case unreadable(String)
    }

    package struct Backup: Hashable, Sendable {
        /// Empty for a stream.
        package var path: String
        package var kind: Kind
        package var state: State
        /// When it was complete, or up to when it is; `nil` if that is unknown.
        package var milliseconds: Int64?
        /// The oldest state of one that is continued.
        package var oldestMilliseconds: Int64?
        package var bytes: Int64?
        package var assets: Int?
        /// The version of the server that made it.
        package var server: String?

        package init(path: String, kind: Kind, state: State) {
            self.path = path
            self.kind = kind
            self.state = state
        }
    }

    package struct Drill: Hashable, Sendable {
        package var path: String
        package var milliseconds: Int64
        package var seconds: Double
        package var records: Int64
        /// Empty if the backup can be used.
        package var problems: [String]

        package init(
            path: String,
            milliseconds: Int64,
            seconds: Double,
            records: Int64,
            problems: [String]
        ) {
            self.path = path
            self.milliseconds = milliseconds
            self.seconds = seconds
            self.records = records
            self.problems = problems
        }
    }

    /// The newest first.
    package var backups: [Backup] = []
    /// The newest first.
    package var drills: [Drill] = []
    /// A path for the next one; `nil` if nothing suggests one.
    package var suggestedPath: String?
    /// A sentence that says why none can be made here; `nil` if one can.
    package var obstacle: String?

    package init() {}
}
