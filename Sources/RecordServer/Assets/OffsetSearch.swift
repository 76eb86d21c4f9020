import AssetStore
import FileIO
import Synchronization

/// Finds out how much is there of each asset of an upload, in steps on its lane.
struct OffsetSearch: Sendable {
    struct Failed: Error {
        let item: Int
        let error: AssetStoreError
    }

    /// One an asset; `nil` if it is complete.
    let files: [UploadFile?]
    let sizes: [Int64]
    let lane: FileLane
    let found: FoundBytes
    /// Called once, on a thread of the files, with an offset for each asset.
    let reply: @Sendable (Result<[Int64], Failed>) -> Void

    /// Goes on behind the assets whose offsets are known.
    func run(from known: [Int64]) {
        self.lane.submit {
            var offsets = known
            defer { self.tell(offsets) }
            do throws(AssetStoreError) {
                while offsets.count < self.files.count {
                    guard let file = self.files[offsets.count] else {
                        offsets.append(self.sizes[offsets.count])
                        continue
                    }
                    // Others have their turns between two steps.
                    guard let offset = try file.recover() else { return self.run(from: offsets) }
                    offsets.append(offset)
                    self.tell(offsets)
                }
                self.reply(.success(offsets))
            } catch {
                self.reply(.failure(Failed(item: offsets.count, error: error)))
            }
        }
    }

    private func tell(_ offsets: [Int64]) {
        let now = offsets.count < self.files.count ? self.files[offsets.count]?.recoveredBytes : nil
        self.found.set(offsets.reduce(now ?? 0, +))
    }
}

/// How much an upload was found to have, while the search goes on; never less than before.
final class FoundBytes: Sendable {
    private let count = Atomic<Int64>(0)

    var bytes: Int64 { self.count.load(ordering: .relaxed) }

    func set(_ bytes: Int64) { self.count.max(bytes, ordering: .relaxed) }
}
