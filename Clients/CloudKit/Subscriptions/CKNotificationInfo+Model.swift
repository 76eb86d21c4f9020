import Foundation
import RecordModel

/// The properties with their names in archives.
extension CKNotificationInfo {
    // SAFETY: key paths of stored properties are constants.
    nonisolated(unsafe) static let texts: [(String, ReferenceWritableKeyPath<CKNotificationInfo, String?>)] =
        [
            ("alertBody", \.alertBody), ("alertLocalizationKey", \.alertLocalizationKey), ("title", \.title),
            ("titleLocalizationKey", \.titleLocalizationKey), ("subtitle", \.subtitle),
            ("subtitleLocalizationKey", \.subtitleLocalizationKey),
            ("alertActionLocalizationKey", \.alertActionLocalizationKey),
            ("alertLaunchImage", \.alertLaunchImage), ("soundName", \.soundName), ("category", \.category),
            ("collapseIDKey", \.collapseIDKey),
        ]

    // SAFETY: as above.
    nonisolated(unsafe) static let lists:
        [(String, ReferenceWritableKeyPath<CKNotificationInfo, [String]?>)] =
            [
                ("alertLocalizationArgs", \.alertLocalizationArgs),
                ("titleLocalizationArgs", \.titleLocalizationArgs),
                ("subtitleLocalizationArgs", \.subtitleLocalizationArgs), ("desiredKeys", \.desiredKeys),
            ]

    // SAFETY: as above.
    nonisolated(unsafe) static let flags: [(String, ReferenceWritableKeyPath<CKNotificationInfo, Bool>)] = [
        ("shouldBadge", \.shouldBadge), ("shouldSendContentAvailable", \.shouldSendContentAvailable),
        ("shouldSendMutableContent", \.shouldSendMutableContent),
    ]

    /// Makes an info from an archive.
    convenience init(_ body: ArchivedBody) {
        self.init()
        for (name, text) in Self.texts { self[keyPath: text] = body.text(name) }
        for (name, list) in Self.lists { self[keyPath: list] = body.list(name) }
        for (name, flag) in Self.flags { self[keyPath: flag] = body.integer(name) == 1 }
    }

    /// The archived parts of the info.
    var parts: [Field] {
        var parts: [Field] = []
        for (name, text) in Self.texts {
            if let text = self[keyPath: text] { parts.append(Field(name, .string(text))) }
        }
        for (name, list) in Self.lists {
            if let list = self[keyPath: list] { parts.append(Field(name, list: list)) }
        }
        for (name, flag) in Self.flags where self[keyPath: flag] { parts.append(Field(name, .int64(1))) }
        return parts
    }

    /// Makes an info from the server's; an empty value is absent.
    convenience init(_ info: NotificationInfo) {
        func text(_ text: String) -> String? { text.isEmpty ? nil : text }
        func list(_ list: [String]) -> [String]? { list.isEmpty ? nil : list }
        self.init()
        self.alertBody = text(info.alertBody)
        self.alertLocalizationKey = text(info.alertLocalizationKey)
        self.alertLocalizationArgs = list(info.alertLocalizationArgs)
        self.title = text(info.title)
        self.titleLocalizationKey = text(info.titleLocalizationKey)
        self.titleLocalizationArgs = list(info.titleLocalizationArgs)
        self.subtitle = text(info.subtitle)
        self.subtitleLocalizationKey = text(info.subtitleLocalizationKey)
        self.subtitleLocalizationArgs = list(info.subtitleLocalizationArgs)
        self.alertActionLocalizationKey = text(info.alertActionLocalizationKey)
        self.alertLaunchImage = text(info.alertLaunchImage)
        self.soundName = text(info.soundName)
        self.desiredKeys = list(info.desiredKeys)
        self.shouldBadge = info.shouldBadge
        self.shouldSendContentAvailable = info.shouldSendContentAvailable
        self.shouldSendMutableContent = info.shouldSendMutableContent
        self.category = text(info.category)
        self.collapseIDKey = text(info.collapseIDKey)
    }

    /// The info in the form for the server.
    var model: NotificationInfo {
        var info = NotificationInfo()
        info.alertBody = self.alertBody ?? ""
        info.alertLocalizationKey = self.alertLocalizationKey ?? ""
        info.alertLocalizationArgs = self.alertLocalizationArgs ?? []
        info.title = self.title ?? ""
        info.titleLocalizationKey = self.titleLocalizationKey ?? ""
        info.titleLocalizationArgs = self.titleLocalizationArgs ?? []
        info.subtitle = self.subtitle ?? ""
        info.subtitleLocalizationKey = self.subtitleLocalizationKey ?? ""
        info.subtitleLocalizationArgs = self.subtitleLocalizationArgs ?? []
        info.alertActionLocalizationKey = self.alertActionLocalizationKey ?? ""
        info.alertLaunchImage = self.alertLaunchImage ?? ""
        info.soundName = self.soundName ?? ""
        info.desiredKeys = self.desiredKeys ?? []
        info.shouldBadge = self.shouldBadge
        info.shouldSendContentAvailable = self.shouldSendContentAvailable
        info.shouldSendMutableContent = self.shouldSendMutableContent
        info.category = self.category ?? ""
        info.collapseIDKey = self.collapseIDKey ?? ""
        return info
    }
}
