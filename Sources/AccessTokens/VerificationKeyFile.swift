import Foundation

/// The file with an identity provider's keys.
///
/// Whoever owns the file replaces it by renaming another, or writes it in place. A file that is being written is cut for a moment, and
/// one that is being replaced may be missing. So a change counts only when two looks in a row have found the same.
package struct VerificationKeyFile: Sendable {
    package let path: String
    /// What the last look found.
    private var seen: State
    /// What the keys were read from.
    private var taken: State

    /// What tells one version of a file from another, behind all links.
    private enum State: Hashable, Sendable {
        case there(device: UInt64, number: UInt64, bytes: Int64, times: [Int])
        /// The system's error, such as that there is no such file.
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
                // The second time also tells of another owner or mode, and of bytes whose time was set back.
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

    /// Looks at the file again.
    ///
    /// - Returns: Whether its keys are to be read: once for each change.
    package mutating func hasChanged() -> Bool {
        let now = State(self.path)
        defer { self.seen = now }
        guard now == self.seen, now != self.taken else { return false }
        self.taken = now
        return true
    }

    /// Reads the keys that the file has now.
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
        // A pipe without a writer would keep us waiting.
        let descriptor = open(self.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .unreachable(errno: errno) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            return try file.read(upToCount: VerificationKeys.bytesMax + 1) ?? Data()
        } catch {
            // A folder, say.
            throw .unusable(.unreadable)
        }
    }
}

/// Why a file has no keys that can be used.
package enum VerificationKeyFileError: Error, Hashable, Sendable {
    /// The system's error.
    case unreachable(errno: Int32)
    case unusable(VerificationKeyError)

    /// Whether the file has gone, or says that there are no keys.
    var isEmptied: Bool {
        switch self {
        case .unreachable(let code): code == ENOENT || code == ENOTDIR
        case .unusable(let error): error == .none
        }
    }
}

/// When the keys that were read last stay good, although the file does not have them any more.
package enum KeyRetention: String, CaseIterable, Sendable {
    case never
    /// While the file is there and cannot be used, and not when it is empty or gone.
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
