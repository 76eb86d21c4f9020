import Foundation

/// A file with an identity provider's keys.
///
/// The owner of the file may replace it by renaming another, or write it in place. A file that is
/// being written is incomplete for a moment, and one that is being replaced may be missing. So a
/// change counts only if two checks in a row find the same.
package struct VerificationKeyFile: Sendable {
    package let path: String
    /// The result of the last check.
    private var seen: State
    /// The version that the current keys were read from.
    private var taken: State

    /// Identifies a version of the file, with all links resolved.
    private enum State: Hashable, Sendable {
        case there(device: UInt64, number: UInt64, bytes: Int64, times: [Int])
        /// The system's error, for example that there is no such file.
        case unreachable(errno: Int32)

        init(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else {
                self = .unreachable(errno: errno)
                return
            }
            self = .there(
                device: UInt64(status.st_dev),
                number: UInt64(status.st_ino),
                bytes: Int64(status.st_size),
                // The second time also changes with the owner or the mode, or if the first was set
                // back.
                times: [
                    status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec,
                    status.st_ctim.tv_nsec,
                ]
            )
        }
    }

    package init(path: String) {
        self.path = path
        self.seen = State(path)
        self.taken = self.seen
    }

    /// Checks the file.
    ///
    /// - Returns: Whether its keys should be read; `true` once for each change.
    package mutating func hasChanged() -> Bool {
        let now = State(self.path)
        defer { self.seen = now }
        guard now == self.seen, now != self.taken else { return false }
        self.taken = now
        return true
    }

    /// Reads the current keys of the file.
    package func read() async throws(VerificationKeyFileError) -> VerificationKeys {
        let bytes = try self.bytes()
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .unusable(.unreadable) }
        do {
            return try await VerificationKeys(contents: text)
        } catch {
            throw .unusable(error)
        }
    }

    private func bytes() throws(VerificationKeyFileError) -> Data {
        // `O_NONBLOCK`, because a pipe without a writer would block.
        let descriptor = open(self.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .unreachable(errno: errno) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            return try file.read(upToCount: VerificationKeys.bytesMax + 1) ?? Data()
        } catch {
            // For example a folder.
            throw .unusable(.unreadable)
        }
    }
}

/// Why a file has no usable keys.
package enum VerificationKeyFileError: Error, Hashable, Sendable {
    /// The system's error.
    case unreachable(errno: Int32)
    case unusable(VerificationKeyError)

    /// Whether the file is gone, or contains an empty key set.
    var isEmptied: Bool {
        switch self {
        case .unreachable(let code): code == ENOENT || code == ENOTDIR
        case .unusable(let error): error == .none
        }
    }
}

/// When the last keys stay valid although the file no longer has them.
package enum KeyRetention: String, CaseIterable, Sendable {
    case never
    /// While the file exists and cannot be used, but not if it is empty or gone.
    case whileUnreadable = "while-unreadable"
    case always

    package func keepsKeys(after error: VerificationKeyFileError) -> Bool {
        switch self {
        case .never: false
        case .whileUnreadable: !error.isEmptied
        case .always: true
        }
    }
}
