public import Foundation

/// A file that a field of a record holds.
///
/// Servers don't store assets yet: a record that holds one can't be saved and gets
/// `CKError.Code.serverRejectedRequest`.
open class CKAsset: NSObject {
    /// The file; `nil` when its content is not on this machine.
    open var fileURL: URL? { self.storedFileURL }

    private let storedFileURL: URL

    /// Creates an asset from a file, which must stay unchanged until the record is saved.
    public init(fileURL: URL) {
        self.storedFileURL = fileURL
        super.init()
    }

    /// The asset for people to read.
    open override var description: String { "<CKAsset: fileURL=\(self.storedFileURL)>" }
}

// SAFETY: every stored property is a constant value.
extension CKAsset: @unchecked Sendable {}
