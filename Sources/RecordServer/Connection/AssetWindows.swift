import Transport
import WireProtocol

/// Flow control windows for asset bytes on upload streams: 0 until the server grants credit.
///
/// - Source: `Protocol/README.md`, sections 5.12 and 6.
struct AssetWindows {
    private struct Upload {
        /// Its size changes as other uploads come and go; `nil` before the first grant.
        var window: ReceiveWindow?
    }

    private var uploads = StreamTable<Upload>()
    /// Bytes that may still arrive on ended streams: the rest of their windows.
    private var lateBytes: Int64 = 0

    mutating func opened(_ stream: UInt32) {
        self.uploads[stream] = Upload()
    }

    mutating func granted(_ stream: UInt32, bytes: UInt32) {
        self.uploads[stream]?.window = ReceiveWindow(bytes: bytes, grantsFrom: .quarter)
    }

    /// A frame arrived for a stream that was opened, and that has ended unless it `isOpen`.
    mutating func received(
        _ stream: UInt32,
        payloadBytes: Int,
        isOpen: Bool
    ) throws(CloseReason) -> ServerSide.OnAssetData {
        guard var upload = self.uploads[stream] else {
            guard !isOpen else { throw .frameKindUnexpected }
            guard self.lateBytes > 0 else { throw .creditExceeded }
            self.lateBytes -= Int64(payloadBytes)
            return .ignore
        }
        guard upload.window?.received(payloadBytes) == true else { throw .creditExceeded }
        self.uploads[stream] = upload
        return .accept
    }

    /// Bytes were written.
    ///
    /// - Returns: Credit to grant now, so that the window becomes `window`.
    mutating func disposed(_ stream: UInt32, payloadBytes: Int, window: UInt32) -> UInt32 {
        guard var upload = self.uploads[stream] else { return 0 }
        let grant = upload.window?.disposed(payloadBytes, size: window) ?? 0
        self.uploads[stream] = upload
        return grant
    }

    /// Whether the client may send on a stream.
    func isOpen(_ stream: UInt32) -> Bool {
        (self.uploads[stream]?.window?.bytes ?? 0) > 0
    }

    mutating func ended(_ stream: UInt32) {
        guard !self.uploads.isEmpty, let upload = self.uploads.removeValue(of: stream) else { return }
        self.lateBytes += max(0, upload.window?.bytes ?? 0)
    }
}
