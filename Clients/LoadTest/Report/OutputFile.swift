import Foundation

/// The file of a report.
///
/// It is opened before the run, so that an error is found before the load.
final class OutputFile: Sendable {
    private let path: String
    private let descriptor: Int32
    /// Whether it existed before.
    ///
    /// If so, it is kept if there is no report.
    private let wasThere: Bool

    /// Opens a file, and keeps its content until there is a report.
    init(_ path: String) throws(LoadFailure) {
        self.path = path
        self.wasThere = access(path, F_OK) == 0
        self.descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        if self.descriptor < 0 { throw Self.failure(path) }
    }

    deinit { close(self.descriptor) }

    /// Replaces the content of the file by a report.
    func write(_ data: Data) throws(LoadFailure) {
        guard ftruncate(self.descriptor, 0) == 0 || errno == EINVAL else { throw Self.failure(self.path) }
        var rest = Array(data)[...]
        while !rest.isEmpty {
            // SAFETY: the bytes are lent for the time of the call, which reads as many as it is
            // told.
            let count = rest.withUnsafeBytes { Foundation.write(self.descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.failure(self.path) }
            rest = rest.dropFirst(count)
        }
    }

    /// Removes a new file if there is no report.
    func discard() {
        if !self.wasThere { unlink(self.path) }
    }

    private static func failure(_ path: String) -> LoadFailure {
        LoadFailure(.cannotCreate, "\(path) cannot be written: \(String(cString: strerror(errno)))")
    }
}
