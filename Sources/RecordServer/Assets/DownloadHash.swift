import Synchronization
import SystemCrypto

/// The hash of what is read of one asset, from its beginning to its end.
///
/// The bytes come from a thread for files, one read after the other.
final class DownloadHash: Sendable {
    private let hash = Mutex(SHA256())

    // SAFETY: the bytes are read within the call only.
    func take(_ bytes: UnsafeRawBufferPointer) { self.hash.withLock { $0.add(bytes) } }

    /// Whether everything that was taken has the hash.
    func isOf(_ sha256: [UInt8]) -> Bool {
        self.hash.withLock { $0.value } == sha256
    }
}
