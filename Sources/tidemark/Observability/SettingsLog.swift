import Logging
import RecordServer

extension Settings {
    /// Logs the settings: at info the ones that differ from the defaults, at debug all.
    ///
    /// No setting is a secret; the path of a key is none.
    func log(to logger: Logger) {
        let all = self.logged
        let defaults = Settings.defaults.logged
        let different = all.filter { $0.value != defaults[$0.key] }
        if !different.isEmpty { logger.info("settings that differ from the defaults", metadata: different) }
        logger.debug("settings in force", metadata: all)
        for variable in self.unknownVariables {
            logger.warning(
                "an environment variable is not a setting",
                metadata: [
                    LogKeys.variable: "\(variable.name)", LogKeys.meant: "\(variable.nearest ?? "")",
                ]
            )
        }
    }

    private var logged: Logger.Metadata {
        var metadata: Logger.Metadata = [:]
        for setting in TextSetting.allCases { metadata[setting.rawValue] = .string(setting.read(self)) }
        for setting in NumberSetting.all { metadata[setting.name] = .stringConvertible(setting.read(self)) }
        return metadata
    }
}
