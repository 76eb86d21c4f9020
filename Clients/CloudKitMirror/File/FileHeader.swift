internal import Foundation

/// The first bytes of a file, read without SQLite, so that another program's file is not touched.
///
/// ```text
///  0  "SQLite format 3\0"
/// 60  user_version, big-endian: the format of the mirror
/// 68  application_id, big-endian
/// ```
struct FileHeader {
    /// "tdmr".
    static let applicationID: Int32 = 0x7464_6D72
    /// The newest format that this version knows.
    static let formatKnown = 1

    private static let magic = Array("SQLite format 3\0".utf8)
    private static let byteCount = 100

    /// Checks a file.
    ///
    /// - Returns: Whether there is a mirror; `false` if the file is missing or empty.
    /// - Throws: `MirrorError`: `notAMirror`, `newerVersion`, `readOnly`, `unusable`.
    static func check(_ path: String, mustBeWritable: Bool = true) throws(MirrorError) -> Bool {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return false }
        if isFolder.boolValue { throw .notAMirror(path: path) }
        guard !mustBeWritable || access(path, W_OK) == 0 else { throw .readOnly(path: path) }
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw .unusable(path: path, detail: String(cString: strerror(errno)))
        }
        let read = Result { try file.read(upToCount: self.byteCount) ?? Data() }
        guard case .success(let data) = read else {
            throw .unusable(path: path, detail: "its first bytes can't be read")
        }
        let bytes = Array(data)
        if bytes.isEmpty { return false }
        guard bytes.count == self.byteCount, bytes.starts(with: self.magic),
            self.number(bytes, at: 68) == UInt32(bitPattern: self.applicationID)
        else { throw .notAMirror(path: path) }
        let format = Int(self.number(bytes, at: 60))
        guard format <= self.formatKnown else {
            throw .newerVersion(path: path, found: format, known: self.formatKnown)
        }
        return true
    }

    private static func number(_ bytes: [UInt8], at offset: Int) -> UInt32 {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
