import Administration
import Foundation
import Logging
import RecordServer

/// The settings of the server that serves a data folder, or served it last: `served.json` in the folder.
///
/// Commands beside the server read them, so that its quotas and limits hold for what they save. The file
/// has whole numbers alone, by name, and omits defaults. It never has a password.
enum ServedSettings {
    static let name = "served.json"
    private static let bytesMax = 64 * 1_024

    static func path(in folder: DataFolder) -> String { folder.path + "/" + self.name }

    /// Writes the settings of a server that starts, or that has read them again.
    ///
    /// If the folder cannot be written to, the server serves all the same, with a line in its log.
    static func write(_ settings: Settings, in folder: DataFolder, logger: Logger) {
        let values = NumberSetting.all.compactMap { setting in
            let value = setting.read(settings)
            return value == setting.read(.defaults) ? nil : (setting.name, value)
        }
        do {
            let text = try JSONText.of(Dictionary(uniqueKeysWithValues: values))
            try WholeFile.replace(self.path(in: folder), with: text)
        } catch {
            logger.warning(
                "commands do not know the settings of this server",
                metadata: [
                    LogKeys.path: "\(self.path(in: folder))",
                    LogKeys.advice: "Make room on its disk, or give each command --config.",
                ]
            )
        }
    }

    /// The settings as variables of an environment; none if there is no file that can be read.
    ///
    /// Settings and values that this version does not know, or does not permit, are left out.
    static func variables(in folder: DataFolder) -> [String: String] {
        guard let file = FileHandle(forReadingAtPath: self.path(in: folder)),
            let data = try? file.read(upToCount: self.bytesMax),
            let values = try? JSONDecoder().decode([String: Int].self, from: data)
        else { return [:] }
        let known = NumberSetting.all.compactMap { setting in
            values[setting.name].flatMap {
                setting.range.contains($0) ? (SettingVariable.name(of: setting.name), "\($0)") : nil
            }
        }
        return Dictionary(uniqueKeysWithValues: known)
    }
}
