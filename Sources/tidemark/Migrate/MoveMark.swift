import Administration
import Foundation

/// A file of a data folder that says that its store is moving to another engine, or was when the move was
/// interrupted.
///
/// While it is there, no server serves the folder and no command changes it: what was copied already stays
/// true, and the move goes on where it was.
struct MoveMark: Hashable, Codable {
    enum Direction: String, Codable {
        case toPostgreSQL = "to postgresql"
        case toFolder = "to folder"
    }

    static let fileName = "move.unfinished"

    var direction: Direction
    var url: String
    /// The identity of the store in the database, in hexadecimal.
    var store: String

    static func path(in folder: DataFolder) -> String { folder.path + "/" + self.fileName }

    /// Reads the mark; `nil` if there is none.
    static func read(from folder: DataFolder) throws(CommandFailure) -> MoveMark? {
        guard let data = FileManager.default.contents(atPath: self.path(in: folder)) else { return nil }
        do {
            return try JSONDecoder().decode(MoveMark.self, from: data)
        } catch {
            throw CommandFailure(
                .data,
                "\(self.path(in: folder)) cannot be read. Remove it to give the move up, and begin again."
            )
        }
    }

    /// Writes the mark for this user alone, as the URL may have a password.
    func write(to folder: DataFolder) throws(CommandFailure) {
        do {
            try CopyFolder(making: folder.path).write(JSONText.of(self), as: Self.fileName)
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure(
                .cannotCreate,
                "\(Self.path(in: folder)) cannot be written. Check the folder's owner and disk."
            )
        }
    }

    static func remove(from folder: DataFolder) throws(CommandFailure) {
        do {
            try CopyFolder(making: folder.path).remove(Self.fileName)
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure(
                .cannotCreate,
                "\(Self.path(in: folder)) cannot be removed. Remove it by hand."
            )
        }
    }

    /// The command that continues the move.
    func command(in folder: DataFolder) -> String {
        let url = ShellText.quoted(DatabaseURL(text: self.url).shown)
        let path = ShellText.quoted(folder.path)
        return switch self.direction {
        case .toPostgreSQL: "tidemark migrate --from \(path) --to \(url)"
        case .toFolder: "tidemark migrate --from \(url) --to \(path)"
        }
    }

    /// The error for a folder that has the mark.
    func isUnfinished(in folder: DataFolder) -> CommandFailure {
        CommandFailure(
            .data,
            "a move of \(folder.path) to another engine is not complete. Wait for it; if it was interrupted, continue it: "
                + "\(self.command(in: folder)). To give it up, remove \(Self.path(in: folder))."
        )
    }
}
