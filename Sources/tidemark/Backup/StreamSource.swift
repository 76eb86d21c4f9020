import Administration
import FileIO
import Foundation
import StorageContract
import SystemCrypto

/// An archive on a pipe, as `BackupStream` writes it.
///
/// Files are written as they come, and hashed. The expected sums come at the end, so nothing is used
/// before that. Every byte is checked: those of files by the sums, those of headers and padding by
/// the format of the archive.
struct StreamSource: RestoreSource {
    /// A manifest is in memory; all else is not.
    private static let manifestBytesMax: Int64 = 64 * 1_024 * 1_024
    private static let sumsDraft = "restore.sums"

    let summary: BackupSummary
    let bytes: Int64
    private var tar: TarReader
    private let head: TarEntry
    private let headHash: [UInt8]

    /// Reads the first file.
    ///
    /// - Throws: `data`.
    init(descriptor: Int32) throws {
        var tar = TarReader(descriptor: descriptor)
        do {
            guard let entry = try tar.next(), entry.path == BackupArchive.headName, entry.bytes <= 65_536
            else { throw Self.isNone }
            let (text, hash) = try Self.text(&tar)
            guard let head = try? JSONDecoder().decode(StreamHead.self, from: text) else { throw Self.isNone }
            guard head.format <= StreamHead.currentFormat else {
                throw CommandFailure(
                    .data,
                    "this version cannot read the stream. Use the one that made the backup, or a newer one."
                )
            }
            self.summary = BackupSummary(date: head.date, server: head.server)
            self.bytes = head.bytes
            self.head = entry
            self.headHash = hash
        } catch let failure as TarReader.Failure {
            if case .unreadable = failure { throw Self.failure(failure) }
            throw Self.isNone
        }
        self.tar = tar
    }

    mutating func fill(_ target: DataFolder, _ bar: inout ProgressBar) throws -> FilledFolder {
        do {
            return try self.read(into: target, &bar)
        } catch let failure as TarReader.Failure {
            throw Self.failure(failure)
        }
    }

    private mutating func read(into target: DataFolder, _ bar: inout ProgressBar) throws -> FilledFolder {
        let path = target.path + "/" + Self.sumsDraft
        var found = try StreamSums(path: path)
        var said = try StreamSums(path: path + ".said")
        try found.add(self.headHash, self.head.path)
        var manifest: BackupManifest?
        var isSummed = false
        let assets = AssetFiles(in: target.assetsPath)
        try assets.makeFolder()
        while let entry = try self.tar.next() {
            // The sums are the last.
            guard !isSummed else { throw Self.isForeign(entry.path) }
            switch entry.path {
            case BackupArchive.sumsName:
                try self.tar.readFile { try said.append($0) }
                isSummed = true
                continue
            case BackupArchive.manifestName:
                guard entry.bytes <= Self.manifestBytesMax else { throw Self.isForeign(entry.path) }
                let (text, hash) = try Self.text(&self.tar)
                manifest = try BackupManifest.read(text, of: entry.path)
                try found.add(hash, entry.path)
            default:
                try found.add(try self.store(entry, in: target, assets, &bar), entry.path)
            }
        }
        guard let manifest, isSummed else { throw Self.isForeign("its end") }
        try found.flush()
        if let file = try found.firstDifference(from: said) {
            throw CommandFailure(.data, "\(file) is not as it was sent. \(Self.advice)")
        }
        for sums in [found, said] { unlink(sums.path) }
        return try self.finish(manifest, in: target, &bar)
    }

    /// Writes one file, and returns its hash.
    private mutating func store(
        _ entry: TarEntry,
        in target: DataFolder,
        _ assets: AssetFiles,
        _ bar: inout ProgressBar
    ) throws -> [UInt8] {
        let path: String
        if let number = assets.number(ofPath: entry.path) {
            path = try assets.placeForFile(of: number)
        } else {
            guard BackupManifest.isPath(entry.path) else { throw Self.isForeign(entry.path) }
            if entry.path.hasPrefix("tls/") { try CopyFolder(making: target.path).makeSubfolder("tls") }
            path = target.path + "/" + entry.path
        }
        let file = try OpenFile(path: path, .replace)
        var hash = SHA256()
        var offset: Int64 = 0
        try self.tar.readFile { piece in
            hash.add(piece)
            try file.write(piece, at: offset)
            offset += Int64(piece.count)
            bar.add(piece.count)
        }
        return hash.value
    }

    private func finish(
        _ manifest: BackupManifest,
        in target: DataFolder,
        _ bar: inout ProgressBar
    ) throws -> FilledFolder {
        for path in (manifest.unused ?? []) + manifest.damaged.map(\.file) {
            guard AssetFiles(in: target.assetsPath).number(ofPath: path) != nil else {
                throw Self.isForeign(path)
            }
            unlink(target.path + "/" + path)
        }
        for file in manifest.files {
            guard FileManager.default.fileExists(atPath: target.path + "/" + file.path) else {
                throw Self.isForeign(file.path)
            }
        }
        let store = try EngineOpening.files.copy(ofBackup: EngineOpening.files.path(in: target.path))
        // Nothing is left to be copied: this names assets without a file.
        var assets = AssetCopying(from: target.assetsPath, to: target.assetsPath)
        let damaged = try assets.copy(namedBy: store, &bar)
        return FilledFolder(store: store, damaged: assets.report(damaged))
    }

    private static func text(_ tar: inout TarReader) throws -> (Data, sha256: [UInt8]) {
        var text = Data()
        var hash = SHA256()
        try tar.readFile { piece in
            text.append(contentsOf: piece)
            hash.add(piece)
        }
        return (text, hash.value)
    }

    // MARK: Errors

    private static let advice = "Nothing was restored. Send the backup again, or use another one."

    private static var isNone: CommandFailure {
        CommandFailure(
            .data,
            "standard input is not a backup. Send one that was made with tidemark backup --to -"
        )
    }

    private static func isForeign(_ name: String) -> CommandFailure {
        CommandFailure(
            .data,
            "the stream is no backup as it was made: \(name) is out of place. \(self.advice)"
        )
    }

    private static func failure(_ failure: TarReader.Failure) -> CommandFailure {
        switch failure {
        case .cut(let offset):
            CommandFailure(.data, "the stream ends after \(offset) bytes, before its end. \(self.advice)")
        case .damaged(let offset):
            CommandFailure(.data, "the stream is damaged at byte \(offset). \(self.advice)")
        case .unreadable(let error):
            CommandFailure(.unavailable, "standard input cannot be read: \(error.reason).")
        }
    }
}
