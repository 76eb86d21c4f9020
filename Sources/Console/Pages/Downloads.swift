import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix
import RecordModel
import RecordStore
import StorageContract

/// Bytes of records, for a download or a preview.
struct Downloads: Sendable {
    let console: ConsolePages

    private static let pieceBytes = 256 * 1_024
    /// Maximum size of a value that is shown; a longer one is a download.
    private static let shownBytesMax = 1_024 * 1_024

    // MARK: Values

    /// The whole value of a field.
    func value(_ request: PageRequest) async throws -> Response {
        let place = try Place(request)
        let record = try await self.console.found(request, try await self.console.reader(of: place))
        guard let name = request.query["field"],
            let field = record.body.fields.first(where: { $0.name == name })
        else { throw PageFailure.missing("The record has no such field.") }
        guard !field.isEncrypted else { throw PageFailure.invalid("The value is encrypted.") }
        let bytes: [UInt8]
        var isText = true
        switch field.value {
        case .string(let text): bytes = Array(text.utf8)
        case .bytes(let value): (bytes, isText) = (value, false)
        default: bytes = Array(ValueMarkup.line(field.value).utf8)
        }
        isText = isText && bytes.count <= Self.shownBytesMax
        return Response(
            status: .ok,
            headers: Self.fields(isText ? "text/plain; charset=utf-8" : nil),
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
        )
    }

    /// Fields of bytes that a browser must not run; without a type they are a download.
    private static func fields(_ contentType: String?) -> HTTPFields {
        var fields: HTTPFields = [
            .contentType: contentType ?? "application/octet-stream",
            .contentSecurityPolicy: ResponseFields.assetPolicy,
        ]
        if contentType == nil { fields[.contentDisposition] = "attachment" }
        return fields
    }

    // MARK: Assets

    /// The bytes of an asset that a record names.
    func asset(_ request: PageRequest) async throws -> Response {
        let place = try Place(request)
        let reader = try await self.console.reader(of: place)
        guard let name = request.query["name"], let hash = request.query["sha256"].flatMap({ Self.hash($0) })
        else { throw PageFailure.invalid("The page names no asset.") }
        let id = RecordID(zone: self.console.zone(request.query), recordName: name)
        let found: StoredAsset
        do throws(StoreError) {
            guard let first = try await reader.assets([hash], of: id).first else {
                throw StoreError.assetNotNamed(index: 0)
            }
            found = first
        } catch {
            throw PageFailure.missing("The record names no such asset: it may have changed since.")
        }
        let path = self.console.configuration.assetPath(found)
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw PageFailure.missing("The file of the asset is missing. List all: tidemark assets verify")
        }
        var contentType: String?
        if request.query["preview"] != nil {
            contentType = AssetPreview.contentType(
                of: (try? file.read(upToCount: AssetPreview.headBytes)) ?? Data()
            )
            try? file.seek(toOffset: 0)
            guard contentType != nil, found.asset.size <= AssetPreview.bytesMax else {
                throw PageFailure(
                    .unsupportedMediaType,
                    "No preview",
                    "Only PNG, JPEG and WebP images of up to \(Shown.bytes(AssetPreview.bytesMax)) are shown."
                )
            }
        }
        let size = found.asset.size
        return Response(
            status: .ok,
            headers: Self.fields(contentType),
            body: ResponseBody(contentLength: Int(size)) { writer in
                var left = size
                while left > 0 {
                    let count = Int(min(left, Int64(Self.pieceBytes)))
                    let piece = try await NIOThreadPool.singleton.runIfActive {
                        try file.read(upToCount: count) ?? Data()
                    }
                    // A file that is too short breaks the response off, which a browser notices.
                    guard !piece.isEmpty else { throw CocoaError(.fileReadCorruptFile) }
                    left -= Int64(piece.count)
                    try await writer.write(ByteBuffer(bytes: piece))
                }
                try await writer.finish(nil)
            }
        )
    }

    private static func hash(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count == 2 * Asset.hashBytes else { return nil }
        var bytes: [UInt8] = []
        for offset in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(String(decoding: digits[offset..<offset + 2], as: UTF8.self), radix: 16)
            else {
                return nil
            }
            bytes.append(byte)
        }
        return bytes
    }

    // MARK: Schemas

    /// The schema as a file.
    func schemaFile(_ request: PageRequest) async throws -> Response {
        let place = try Place(request)
        let text = try await self.console.schema(of: place).text
        return Response(
            status: .ok,
            headers: [
                .contentType: "text/plain; charset=utf-8",
                .contentDisposition: "attachment; filename=\"\(place.environment.name).ckdb\"",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text))
        )
    }
}

/// Images that a page shows, by what their first bytes say.
///
/// A file's name or type says nothing of what a browser makes of it. SVG is a document with scripts,
/// and never among them.
enum AssetPreview {
    static let bytesMax: Int64 = 20 * 1_024 * 1_024
    static let headBytes = 16

    static func contentType(of head: Data) -> String? {
        let bytes = Array(head)
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        if bytes.count >= 12, bytes.starts(with: "RIFF".utf8), bytes[8..<12].elementsEqual("WEBP".utf8) {
            return "image/webp"
        }
        return nil
    }
}
