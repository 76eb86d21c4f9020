import RecordModel
import RecordStore
package import ZoneBundles

/// A bundle that was read to its last byte, and agrees with its hashes.
package struct VerifiedBundle: Sendable {
    package let file: InputFile
    package let description: BundleDescription
    let schema: SchemaDocument
    let totals: BundleTotals
    /// The progress of the whole import: the second reading continues it.
    let progress: Progress
    /// The SHA-256 of each entry with records, for the second reading.
    private let parts: [[UInt8]]
    /// User record names that the records and shares name, except the owner's.
    let users: Set<String>

    /// Reads the whole file, and checks that its records fit together.
    ///
    /// `showProgress` gets the number of bytes that are read; an import reads the file twice.
    ///
    /// - Throws: `refused`; then no part of the bundle is usable.
    package init(
        _ file: InputFile,
        showProgress: @escaping @Sendable (Int64, Int64) -> Void
    ) throws {
        self.file = file
        var progress = Progress(showProgress)
        progress.begin(2 * file.bytes)
        do {
            var reader = BundleReader(isVerifying: true) { try file.read($0, at: $1) }
            guard case .description(let description) = try reader.next(),
                case .schema(let schema) = try reader.next()
            else { throw BundleError.notABundle }
            self.description = description
            self.schema = try Self.parsed(schema)
            var check = try BundleCheck(description)
            var parts: [[UInt8]] = []
            var users: Set<String> = []
            var totals = BundleTotals()
            var bytes = reader.bytesTaken
            while let part = try reader.next() {
                switch part {
                case .description, .schema: throw BundleError.notABundle
                case .records(let records, let sha256):
                    parts.append(sha256)
                    for record in records {
                        try check.add(record)
                        if users.count < Self.usersMax { users.formUnion(Self.users(of: record)) }
                    }
                case .asset(let asset, _): try check.add(asset)
                case .end(let end): totals = end
                }
                progress.add(Int(reader.bytesTaken - bytes))
                bytes = reader.bytesTaken
            }
            try check.finish()
            // The size of a pipe is known now.
            progress.extend(to: 2 * file.bytes)
            self.progress = progress
            self.parts = parts
            self.totals = totals
            self.users = users.subtracting(["", description.owner])
        } catch let error as BundleError {
            throw BundleFailure.refused(file: file.name, error)
        }
    }

    private static func parsed(_ text: String) throws(BundleError) -> SchemaDocument {
        do throws(SchemaError) {
            return try SchemaParser.parse(Array(text.utf8))
        } catch {
            throw .schemaMalformed("\(error)")
        }
    }

    /// Maximum number of users that are counted.
    private static let usersMax = 100_000

    private static func users(of record: Record) -> [String] {
        let authors = [record.system.createdBy, record.system.modifiedBy]
        guard record.recordType == ShareRecord.type, let share = record.body.share else { return authors }
        return authors + share.participants.map(\.identity.userRecordName)
    }

    /// Reads all assets again, in order.
    func forEachAsset(_ body: (Asset, Range<Int64>) async throws -> Void) async throws {
        var reader = BundleReader(isVerifying: false) { try self.file.read($0, at: $1) }
        while let part = try self.next(&reader) {
            guard case .asset(let asset, let offset) = part else { continue }
            try await body(asset, offset..<offset + asset.size)
        }
    }

    /// Reads all records again, in order.
    func forEachRecord(_ body: (Record) async throws -> Void) async throws {
        var reader = BundleReader(isVerifying: false) { try self.file.read($0, at: $1) }
        var parts = self.parts[...]
        while let part = try self.next(&reader) {
            guard case .records(let records, let sha256) = part else { continue }
            guard parts.popFirst() == sha256 else { throw self.hasChanged }
            for record in records { try await body(record) }
            guard !parts.isEmpty else { return }
        }
    }

    private func next(_ reader: inout BundleReader) throws -> BundleReader.Part? {
        do {
            return try reader.next()
        } catch is BundleError {
            throw self.hasChanged
        }
    }

    private var hasChanged: BundleFailure {
        .fileChanged(self.file.name)
    }
}
