internal import Foundation

/// The `NSError` under a `CKError`, and the one under that.
///
/// Foundation's class on Linux has two faults. It ends the process when its hash is read, because
/// `hash` and `CFHash` call each other without end. And its description leaves out the text. So no
/// `CKError` contains a plain one.
// SAFETY: nothing is stored beyond what an `NSError` holds, which is constant.
final class StoredError: NSError, @unchecked Sendable {
    /// Returns the error itself if it is of this class, else an equal one of this class.
    static func holding(_ error: NSError) -> StoredError {
        (error as? StoredError)
            ?? StoredError(domain: error.domain, code: error.code, userInfo: error.userInfo)
    }

    /// Agrees with `isEqual`, which compares domain, code and user info.
    override var hash: Int {
        var hasher = Hasher()
        hasher.combine(self.domain)
        hasher.combine(self.code)
        return hasher.finalize()
    }

    override var description: String {
        let text = self.userInfo[NSLocalizedDescriptionKey] as? String ?? "(null)"
        let carried = self.userInfo.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }.joined(separator: ", ")
        return "Error Domain=\(self.domain) Code=\(self.code) \"\(text)\""
            + (carried.isEmpty ? "" : " UserInfo={\(carried)}")
    }

    /// Archives know Foundation's class.
    override var classForCoder: AnyClass { NSError.self }

    /// Writes texts and numbers alone, because an archiver ends the process at any value that is
    /// not an object, such as retry advice or the errors of items.
    override func encode(with coder: NSCoder) {
        let kept = self.userInfo.filter { $0.value is String || $0.value is NSNumber }
        NSError(domain: self.domain, code: self.code, userInfo: kept).encode(with: coder)
    }
}
