import Foundation

/// What a file or a folder is, whose it is, and who may do what with it.
package struct FileStatus: Hashable, Sendable {
    package let isFile: Bool
    package let isFolder: Bool
    package let owner: UInt32
    package let group: UInt32
    /// As `chmod` takes it.
    package let mode: UInt32

    /// What others than the owner may do.
    package var othersMode: UInt32 { self.mode & 0o077 }
    /// Whether others than the owner may write.
    package var isWritableForOthers: Bool { self.mode & 0o022 != 0 }

    /// - Returns: `nil` if nothing is there, or this process may not look.
    package init?(path: String, followsLinks: Bool = true) {
        let path = followsLinks ? URL(fileURLWithPath: path).resolvingSymlinksInPath().path : path
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else { return nil }
        let type = attributes[.type] as? FileAttributeType
        self.isFile = type == .typeRegular
        self.isFolder = type == .typeDirectory
        func number(_ key: FileAttributeKey) -> UInt32 { (attributes[key] as? NSNumber)?.uint32Value ?? 0 }
        self.owner = number(.ownerAccountID)
        self.group = number(.groupOwnerAccountID)
        self.mode = number(.posixPermissions)
    }
}
