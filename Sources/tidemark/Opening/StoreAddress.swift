import Administration
import Foundation

/// The address of a data folder's store, if that is a database of a PostgreSQL server.
///
/// A file of the folder has it, so that every command finds the store by `--data` alone. The assets are in
/// the folder.
struct StoreAddress: Hashable, Codable {
    static let fileName = "postgresql.json"

    var url: String
    /// The identity of the store in hexadecimal, which no other store has.
    var store: String

    private static func path(in folder: DataFolder) -> String { folder.path + "/" + self.fileName }

    static func exists(in folder: DataFolder) -> Bool {
        FileManager.default.fileExists(atPath: self.path(in: folder))
    }

    /// Reads the address; `nil` if the folder has none.
    ///
    /// - Throws: `data` if the file is none of ours.
    static func read(from folder: DataFolder) throws(CommandFailure) -> StoreAddress? {
        guard let data = FileManager.default.contents(atPath: self.path(in: folder)) else { return nil }
        do {
            return try JSONDecoder().decode(StoreAddress.self, from: data)
        } catch {
            throw CommandFailure(
                .data,
                "\(self.path(in: folder)) cannot be read. Remove it, and name the database again: "
                    + "tidemark serve --engine postgres --database-url URL"
            )
        }
    }

    /// An identity that no other store has.
    static func newIdentity() -> String {
        Hexadecimal.text(of: (0..<16).map { _ in UInt8.random(in: .min ... .max) })
    }

    /// Removes the address of a store that has moved into the folder.
    static func remove(from folder: DataFolder) throws(CommandFailure) {
        let path = self.path(in: folder)
        guard unlink(path) == 0 || errno == ENOENT else {
            throw CommandFailure(.cannotCreate, "\(path) cannot be removed. Remove it by hand.")
        }
    }

    /// Writes the address for this user alone, as the URL may have a password.
    func write(to folder: DataFolder) throws(CommandFailure) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let path = Self.path(in: folder)
        let draft = path + ".unfinished"
        do {
            let data = try encoder.encode(self)
            try? FileManager.default.removeItem(atPath: draft)
            guard
                FileManager.default.createFile(
                    atPath: draft,
                    contents: data,
                    attributes: [.posixPermissions: 0o600]
                ), rename(draft, path) == 0
            else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            throw CommandFailure(
                .cannotCreate,
                "\(path) cannot be written. Check the folder's owner and disk."
            )
        }
    }
}
