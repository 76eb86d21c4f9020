import Foundation
import Synchronization

/// The memory in which a store lives, also from one engine to the next.
final class MemoryStorage: Sendable {
    private struct State {
        var contents = StoreContents()
        var commits = 0
    }

    private let state = Mutex(State())
    /// Held by the one engine that has a transaction under way.
    let writing = NSLock()

    /// By folder.
    private static let known = Mutex<[String: MemoryStorage]>([:])

    /// The memory that stands for a folder: as long as there is the folder, it is kept.
    static func standing(for folder: String) -> MemoryStorage {
        self.known.withLock { known in
            known = known.filter { FileManager.default.fileExists(atPath: $0.key) }
            let storage = known[folder] ?? MemoryStorage()
            known[folder] = storage
            return storage
        }
    }

    var contents: StoreContents { self.state.withLock { $0.contents } }

    /// How many commits there were, of whichever engine.
    var commits: Int { self.state.withLock { $0.commits } }

    /// Has everybody see contents, and returns how many commits there were.
    func commit(_ contents: StoreContents) -> Int {
        self.state.withLock { state in
            state.contents = contents
            state.commits += 1
            return state.commits
        }
    }
}
