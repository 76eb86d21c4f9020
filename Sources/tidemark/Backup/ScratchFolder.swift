import Foundation

/// A folder that is removed when a command is done with it.
struct ScratchFolder {
    let path: String

    /// The parent of temporary folders if the operator names none.
    static var parent: String {
        let environment = ProcessInfo.processInfo.environment["TMPDIR"] ?? ""
        return environment.isEmpty ? "/var/tmp" : environment
    }

    /// Makes a folder; `contents` is what there has to be room for.
    ///
    /// - Throws: `cannotCreate`.
    init(in parent: String, called name: String, for contents: String) throws(CommandFailure) {
        var template = Array((parent + "/tidemark-\(name)-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            throw CommandFailure(
                .cannotCreate,
                "a folder cannot be made in \(parent): \(String(cString: strerror(errno))). "
                    + "Name one with room for \(contents): --scratch DIR"
            )
        }
        self.path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    func remove() { try? FileManager.default.removeItem(atPath: self.path) }
}
