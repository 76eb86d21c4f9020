import Foundation
import SQLiteEngine

/// How long a command waits for a store that a server is about to make, or to bring to the current format.
///
/// `tidemark serve & tidemark container create …` is one line of a shell: the second program may be there first. A command waits five
/// seconds for a store in a folder that is absent or empty, or has an older format, and a minute once a server holds the folder's lock. A
/// folder with anything else in it is a mistake, and fails at once.
struct ServerWait {
    private static let interval = Duration.milliseconds(50)
    private static let forServer = Duration.seconds(5)
    private static let forStore = Duration.seconds(60)
    /// What the start of a server makes, in any order.
    private static let firstFiles: Set<String> = [
        "lock", "tls", "assets", StoreFile.name, StoreFile.reserveName, "lost+found",
    ]

    let folder: DataFolder
    private let begin = ContinuousClock.now
    private var wasHeld = false
    private var isLastLook = false
    private var hasSpoken = false

    init(folder: DataFolder) {
        self.folder = folder
    }

    /// Waits a little, unless there is nothing to be waited for any more.
    ///
    /// - Returns: Whether to look again.
    mutating func goesOn(after error: SQLiteEngineError) async throws -> Bool {
        let waited = ContinuousClock.now - self.begin
        switch error {
        case .isBeingPrepared:
            guard waited < Self.forStore else { return false }
        case .isMissing, .formatTooOld:
            if DataFolderLock.isHeld(in: self.folder) {
                self.wasHeld = true
                guard waited < Self.forStore else { return false }
            } else if self.wasHeld {
                // The server has ended, perhaps just after it was done: one more look.
                guard !self.isLastLook else { return false }
                self.isLastLook = true
            } else {
                guard self.mayBeginSoon(error), waited < Self.forServer else { return false }
            }
        default: return false
        }
        if !self.hasSpoken, waited > .milliseconds(500) {
            self.hasSpoken = true
            Terminal.writeError("tidemark: waiting for a server that prepares \(self.folder.path)\n")
        }
        try await Task.sleep(for: Self.interval)
        return true
    }

    private func mayBeginSoon(_ error: SQLiteEngineError) -> Bool {
        guard case .isMissing = error else { return true }
        let names = try? FileManager.default.contentsOfDirectory(atPath: self.folder.path)
        return Set(names ?? []).isSubset(of: Self.firstFiles)
    }
}
