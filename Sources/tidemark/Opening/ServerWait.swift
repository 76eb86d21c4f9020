import Administration
import Foundation
import StorageContract

/// Decides how long a command waits for a store that a server is about to make or migrate.
///
/// `tidemark serve & tidemark container create …` is one line of a shell, and the second program
/// may be first. A command waits five seconds if the folder is absent, empty or has an older
/// format. Once a server has the folder's lock, it waits a minute. A folder with other contents is
/// a mistake, and fails at once.
struct ServerWait {
    private static let interval = Duration.milliseconds(50)
    private static let forServer = Duration.seconds(5)
    private static let forStore = Duration.seconds(60)
    /// The files that a starting server makes, in any order.
    static let firstFiles = Set(
        ["lock", "tls", "assets", "lost+found", StoreAddress.fileName] + EngineOpening.files.names
    )

    /// A part that a store lacks and a server may be about to bring.
    enum Lack {
        /// It is being made, or brought to the current format.
        case preparation
        case store
        case currentFormat
    }

    let folder: DataFolder
    private let begin = ContinuousClock.now
    private var wasHeld = false
    private var isLastLook = false
    private var hasSpoken = false

    init(folder: DataFolder) {
        self.folder = folder
    }

    /// Waits a little, unless there is nothing left to wait for.
    ///
    /// - Returns: Whether to try again.
    mutating func goesOn(without lack: Lack) async throws -> Bool {
        let waited = ContinuousClock.now - self.begin
        switch lack {
        case .preparation:
            guard waited < Self.forStore else { return false }
        case .store, .currentFormat:
            if DataFolderLock.isHeld(in: self.folder) {
                self.wasHeld = true
                guard waited < Self.forStore else { return false }
            } else if self.wasHeld {
                // The server has ended, perhaps after it was done, so try once more.
                guard !self.isLastLook else { return false }
                self.isLastLook = true
            } else {
                guard self.mayBeginSoon(lack), waited < Self.forServer else { return false }
            }
        }
        if !self.hasSpoken, waited > .milliseconds(500) {
            self.hasSpoken = true
            Terminal.writeError("tidemark: waiting for a server that is preparing \(self.folder.path)\n")
        }
        try await Task.sleep(for: Self.interval)
        return true
    }

    private func mayBeginSoon(_ lack: Lack) -> Bool {
        guard case .store = lack else { return true }
        let names = try? FileManager.default.contentsOfDirectory(atPath: self.folder.path)
        return Set(names ?? []).isSubset(of: Self.firstFiles)
    }
}
