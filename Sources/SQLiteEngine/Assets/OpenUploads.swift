import RecordStore
import Synchronization

/// Uploads whose files somebody may be writing: no sweep takes their rows.
///
/// Only in memory: with the process go those who write.
final class OpenUploads: Sendable {
    private let counts = Mutex<[AssetNumber: Int]>([:])

    var numbers: Set<AssetNumber> { self.counts.withLock { Set($0.keys) } }

    func open(_ numbers: [AssetNumber]) {
        self.counts.withLock { counts in
            for number in numbers { counts[number, default: 0] += 1 }
        }
    }

    func close(_ numbers: [AssetNumber]) {
        self.counts.withLock { counts in
            for number in numbers {
                let left = (counts[number] ?? 1) - 1
                counts[number] = left > 0 ? left : nil
            }
        }
    }

    /// What one request opens: known within its transaction, which may be executed again or come to nothing.
    final class Opening: Sendable {
        private let uploads: OpenUploads
        private let numbers = Mutex<[AssetNumber]>([])

        init(_ uploads: OpenUploads) { self.uploads = uploads }

        func open(_ places: [AssetPlace]) {
            self.takeBack()
            let opened = places.compactMap(\.number)
            self.uploads.open(opened)
            self.numbers.withLock { $0 = opened }
        }

        func takeBack() {
            self.uploads.close(
                self.numbers.withLock { numbers in
                    defer { numbers = [] }
                    return numbers
                }
            )
        }
    }
}
