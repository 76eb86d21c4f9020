public import Foundation
internal import RecordModel

/// The ID of a notification.
///
/// - Source: Apple's `CKNotificationID`.
open class CKNotificationID: NSObject, NSSecureCoding, NSCopying {
    let text: String

    init(_ text: String) {
        self.text = text
        super.init()
    }

    /// Reads an archived ID; `nil` if the archive has none.
    public required init?(coder: NSCoder) {
        guard let text = coder.archivedBody()?.text("notificationID") else { return nil }
        self.text = text
        super.init()
    }

    /// Writes the ID into an archive; equal contents give equal bytes.
    open func encode(with coder: NSCoder) {
        coder.encodeBody([Field("notificationID", .string(self.text))])
    }

    /// Always `true`: IDs can be read where secure coding is required.
    open class var supportsSecureCoding: Bool { true }

    /// Returns the ID itself, which never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns whether an object is the ID of the same notification.
    open override func isEqual(_ object: Any?) -> Bool { (object as? CKNotificationID)?.text == self.text }

    /// Agrees with `isEqual`.
    open override var hash: Int { self.text.hashValue }
}

// SAFETY: every stored property is a constant value.
extension CKNotificationID: @unchecked Sendable {}
