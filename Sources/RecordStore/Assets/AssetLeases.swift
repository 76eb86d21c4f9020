import StorageContract
import Synchronization

/// Leases of assets while their files are written or read: no sweep removes their rows.
///
/// The lease of an upload is taken within the transaction that finds or makes the row. It is
/// released when no work on the file is left. Leases are in memory alone, because readers and
/// writers of files end with the process.
final class AssetLeases: Sendable {
    private let counts = Mutex<[AssetNumber: Int]>([:])

    init() {}

    /// The leases of both kinds.
    struct Numbers {
        var written: Set<AssetNumber>
        var read: Set<AssetNumber>
    }

    /// The assets that have a lease.
    var numbers: Set<AssetNumber> { self.counts.withLock { Set($0.keys) } }

    func take(_ numbers: [AssetNumber]) {
        self.counts.withLock { counts in
            for number in numbers { counts[number, default: 0] += 1 }
        }
    }

    /// Releases leases, each once for each time that it was taken.
    func release(_ numbers: [AssetNumber]) {
        self.counts.withLock { counts in
            for number in numbers {
                let left = (counts[number] ?? 1) - 1
                counts[number] = left > 0 ? left : nil
            }
        }
    }

    /// The leases of one request; its transaction may be executed again or come to nothing.
    final class Grant: Sendable {
        private let leases: AssetLeases
        private let numbers = Mutex<[AssetNumber]>([])

        init(_ leases: AssetLeases) { self.leases = leases }

        /// Takes leases in place of those of an earlier execution.
        func take(_ uploads: [UploadStatus]) {
            self.takeBack()
            let numbers = uploads.compactMap(\.number)
            self.leases.take(numbers)
            self.numbers.withLock { $0 = numbers }
        }

        func takeBack() {
            self.leases.release(
                self.numbers.withLock { numbers in
                    defer { numbers = [] }
                    return numbers
                }
            )
        }
    }
}
