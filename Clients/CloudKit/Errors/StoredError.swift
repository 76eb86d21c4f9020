internal import Foundation

/// The `NSError` under a `CKError`, and the one under that.
///
/// Foundation's on Linux ends the process when its hash is asked for, since `hash` and `CFHash` call each other without end; and its
/// description leaves out the text. So no `CKError` holds a plain one.
// SAFETY: nothing is stored beyond what an `NSError` holds, which is constant.
final class StoredError: NSError, @unchecked Sendable {
    /// The error itself if it is such a one, else one that says the same.
    static func holding(_ error: NSError) -> StoredError {
        (error as? StoredError)
            ?? StoredError(domain: error.domain, code: error.code, userInfo: error.userInfo)
    }

    /// Agrees with `isEqual`, which compares domain, code and what the error carries.
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

    /// Writes texts and numbers; an archiver ends the process at what is no object, such as advice or the errors of items.
    override func encode(with coder: NSCoder) {
        let kept = self.userInfo.filter { $0.value is String || $0.value is NSNumber }
        NSError(domain: self.domain, code: self.code, userInfo: kept).encode(with: coder)
    }
}
