import Foundation

/// Type, owner and permissions of a file or a folder.
package struct FileStatus: Hashable, Sendable {
    package let isFile: Bool
    package let isFolder: Bool
    package let owner: UInt32
    package let group: UInt32
    /// In the form that `chmod` takes.
    package let mode: UInt32

    /// Permissions of users other than the owner.
    package var othersMode: UInt32 { self.mode & 0o077 }
    /// Whether users other than the owner may write.
    package var isWritableForOthers: Bool { self.mode & 0o022 != 0 }

    /// - Returns: `nil` if the path does not exist, or this process has no access.
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
